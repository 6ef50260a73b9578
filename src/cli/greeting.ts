/** What a person sees on the terminal when everything serves. */
import type { Config } from '../config.ts'
import { addressesOf } from '../flows/addresses.ts'
import { quickstartFile, type Quickstart } from '../flows/demo/quickstart.ts'
import type { Channel } from '../domain/channel.ts'
import { bold, dim, type Io } from './io.ts'

export function greeting(io: Io, config: Config, quickstart: Quickstart | undefined): string {
  const addresses = addressesOf(config)
  const lines = [
    '',
    bold(io, 'Pombo is ready.'),
    `  Console                      ${addresses.console}/`,
    `  Unified Message Sending API  ${addresses.unified}/v1`,
    `  Direct Message API           ${addresses.direct}/v1/directmessage`,
    `  API reference                ${addresses.console}/docs`,
  ]
  if (quickstart === undefined) return [...lines, ''].join('\n')
  const { console: door, sandbox } = quickstart
  return [
    ...lines,
    ...(sandbox.url ? [`  Sandbox (phone and mailbox)  ${sandbox.url}`] : []),
    '',
    `Sign in to the console as ${bold(io, door.username)} of ${bold(io, door.company)} with ${bold(io, door.password)}`,
    dim(io, `All of this is in ${quickstartFile(config.dataDir)}.`),
    '',
    bold(io, 'Log in, then send one message on each channel:'),
    '',
    ...unifiedCommands(quickstart),
    '',
    bold(io, 'The same through the Direct Message API:'),
    '',
    ...directCommands(quickstart),
    '',
  ].join('\n')
}

/** In single quotes a shell reads everything but a single quote as it is. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const post = (url: string, body: object, ...headers: string[]): string => {
  const withType = [quoted('Content-Type: application/json'), ...headers].map((header) => `-H ${header}`)
  return ['curl -sS', quoted(url), ...withType, '-d', quoted(JSON.stringify(body))].join(' ')
}

export function unifiedCommands(quickstart: Quickstart): string[] {
  const { unified, contacts } = quickstart
  const login = { Company: unified.company, Username: unified.username, Password: unified.password }
  const send = (channel: number, name: Channel, destination: object) =>
    post(
      `${unified.baseUrl}/v1/sendmessage`,
      {
        platformPrivateToken: unified.platformPrivateToken,
        text: '',
        channel,
        destination,
        ...sample(quickstart, name),
      },
      '"Authorization: Bearer $TOKEN"',
    )
  return [
    `TOKEN=$(${post(`${unified.baseUrl}/v1/login`, login)} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    send(1, 'email', { email: 'wanda@example.com' }),
    send(2, 'sms', contacts.windowOpen),
    send(3, 'whatsapp', contacts.windowOpen),
  ]
}

export function directCommands(quickstart: Quickstart): string[] {
  const { direct, contacts } = quickstart
  const number = `${contacts.windowOpen.countryCode}${contacts.windowOpen.phoneNumber}`
  const send = (channel: Channel, recipient: object) => {
    const { code, variables } = textTemplate(quickstart, channel)
    const values = sampleValues(variables)
    const given = channel === 'whatsapp' ? { variables: { body: values } } : { variable_values: values }
    return post(
      `${direct.baseUrl}/v1/directmessage/${channel}`,
      { ...recipient, ...given, contract_code: 'C-1', template_code: code },
      quoted(`Authorization: Bearer ${direct.token}`),
    )
  }
  return [
    send('email', { recipient_email: 'wanda@example.com' }),
    send('sms', { recipient_number: number }),
    send('whatsapp', { recipient_number: number }),
  ]
}

const textTemplate = (quickstart: Quickstart, channel: Channel) =>
  quickstart.templates.find((template) => template.channel === channel && template.kind === 'text')!

const sampleValues = (variables: readonly string[]) =>
  Object.fromEntries(variables.map((name, at) => [name, `${name} ${at + 1}`]))

function sample(quickstart: Quickstart, channel: Channel) {
  const { name, variables } = textTemplate(quickstart, channel)
  return {
    templateName: name,
    templateParameters: Object.entries(sampleValues(variables)).map(([parameterName, parameterValue]) => ({
      parameterName,
      parameterValue,
    })),
  }
}

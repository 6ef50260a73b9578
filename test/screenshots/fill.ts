/** A day at the demo company, through both APIs and the sandbox: sends, refusals, failures, answers, an attendance. */
import { channelNumbers, logInToUnified, type UnifiedSender } from '../harness/unified-sender.ts'
import { waitFor } from '../harness/program.ts'
import type { Installation } from './installation.ts'

export type Filled = {
  /** WhatsApp with callbacks, read by the person. */
  readMessageId: string
  refusedMessageId: string
  carouselId: string
  mariaId: string
}

type Person = readonly [name: string, phoneNumber: number]

const people = [
  ['Maria Silva', 31987654321],
  ['João Pereira', 31987651101],
  ['Beatriz Lima', 31987651102],
  ['Carlos Souza', 21987651103],
  ['Helena Rocha', 21987651104],
  ['Pedro Martins', 41987651105],
  ['Sofia Cardoso', 41987651106],
  ['Rafael Nunes', 31987651107],
  ['Laura Teixeira', 31987651108],
  ['Tiago Barbosa', 21987651109],
] as const satisfies Person[]

const [maria, joao, beatriz, carlos] = people
const emailOf = ([name]: Person) =>
  `${name
    .normalize('NFD')
    .replaceAll(/[^A-Za-z ]/g, '')
    .replaceAll(' ', '.')
    .toLowerCase()}@example.com`
const numberOf = ([, phone]: Person) => `55${phone}`
const toPhone = ([name, phoneNumber]: Person) => ({
  destination: { countryCode: 55, phoneNumber },
  contact: { name },
})
const parameters = (values: Record<string, string>) =>
  Object.entries(values).map(([parameterName, parameterValue]) => ({ parameterName, parameterValue }))

/** How many messages leave how many hours ago: two hills, as in most shops. */
const day: [hoursAgo: number, count: number][] = [
  [21, 2],
  [19, 1],
  [16, 3],
  [14, 5],
  [12, 7],
  [10, 4],
  [8, 5],
  [6, 8],
  [4, 6],
  [2, 4],
]

const usual: ((person: Person, at: number) => Record<string, unknown>)[] = [
  (person, at) => ({
    channel: channelNumbers.sms,
    text: '',
    templateName: 'Appointment reminder',
    templateParameters: parameters({
      Date: ['Monday', 'Tuesday', 'Thursday'][at % 3]!,
      Time: `${9 + (at % 8)}:30`,
    }),
    ...toPhone(person),
  }),
  (person, at) => ({
    channel: channelNumbers.whatsapp,
    text: '',
    templateName: 'Delivery update',
    templateParameters: parameters({ OrderNumber: String(4700 + at), Date: 'Wednesday' }),
    ...toPhone(person),
  }),
  (person, at) => ({
    channel: channelNumbers.email,
    text: '',
    templateName: 'Order confirmation',
    templateParameters: parameters({ OrderNumber: String(4700 + at), Amount: `R$ ${40 + at * 7},90` }),
    destination: { email: emailOf(person) },
    contact: { name: person[0] },
  }),
  (person, at) => ({
    channel: channelNumbers.whatsapp,
    text: '',
    templateName: 'Payment reminder',
    templateParameters: parameters({ 1: person[0].split(' ')[0]!, 2: `R$ ${90 + at * 3},00` }),
    ...toPhone(person),
  }),
  (person) => ({
    channel: channelNumbers.sms,
    text: 'Hello @FirstName, your parcel waits for you at the counter until Friday.',
    ...toPhone(person),
  }),
]

/** Wrong on purpose: a number that WhatsApp does not know, a phone that is off, a mailbox that is not there. */
const failing: Record<string, unknown>[] = [
  usual[1]!(['Otávio Prado', 31900131026], 31),
  usual[0]!(['Nina Castro', 31900001005], 32),
  { ...usual[2]!(people[6], 33), destination: { email: 'unknown@example.com' }, contact: {} },
]

export async function fill(pombo: Installation, say: (text: string) => void): Promise<Filled> {
  const send = accepting(await logInToUnified(pombo.quickstart))
  let at = 0
  for (const [hoursAgo, count] of day) {
    await pombo.setHoursAgo(hoursAgo)
    for (let sent = 0; sent < count; sent++, at++)
      await send(usual[at % usual.length]!(people[(at * 3) % people.length]!, at))
    if (hoursAgo === 14) await send(failing[0]!)
    if (hoursAgo === 12) await refuse(pombo)
    if (hoursAgo === 8) await send(failing[1]!)
    if (hoursAgo === 6) await send(failing[2]!)
    if (hoursAgo === 4) await throughChaos(pombo, send)
    await settled(pombo)
    say(`${hoursAgo} hours ago: ${at} messages so far`)
  }
  await pombo.setHoursAgo(0)
  await sendInvoice(pombo)
  await send({
    channel: channelNumbers.whatsapp,
    text: '',
    templateName: 'Spring offers',
    templateParameters: pombo.quickstart.media.map(({ url }, card) => ({
      parameterName: String(card),
      parameterValue: url,
    })),
    ...toPhone(maria),
  })
  const { phone } = pombo.quickstart.restricted
  const onTheLists = { countryCode: 55, phoneNumber: Number(phone.slice(2)) }
  await send(
    { channel: channelNumbers.sms, text: 'Your parcel is on its way.', destination: onTheLists },
    400,
  )
  await settled(pombo)
  await talk(pombo)
  say('people answered, and one of them is attended')
  return await findShown(pombo)
}

const accepting =
  (send: UnifiedSender) =>
  async (message: Record<string, unknown>, status = 200): Promise<void> => {
    const answer = await send(message)
    if (answer.status !== status)
      throw new Error(`A send was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  }

/** By the Direct API: the demo's rules keep this number out. */
async function refuse(pombo: Installation): Promise<void> {
  const answer = await direct(pombo, 'sms', {
    recipient_number: pombo.quickstart.restricted.phone,
    contract_code: 'C-2077',
    template_code: 'appointment-reminder',
    variable_values: { Date: 'Monday', Time: '10:30' },
  })
  if (answer.status !== 409) throw new Error(`A refusal was expected, not ${answer.status}.`)
}

async function sendInvoice(pombo: Installation): Promise<void> {
  const answer = await direct(pombo, 'whatsapp', {
    recipient_number: numberOf(maria),
    contract_code: 'C-1042',
    template_code: 'invoice',
    variables: {
      header_key: 'InvoiceNumber',
      header_value: '2026-17',
      body: { Amount: 'R$ 120,00', DueDate: 'Friday' },
    },
    callback_details: { url: `${pombo.quickstart.sandbox.url}/catch/shop`, custom_fields: { order: '4711' } },
  })
  if (answer.status !== 202)
    throw new Error(`The invoice was answered ${answer.status}: ${await answer.text()}`)
}

const direct = ({ quickstart }: Installation, channel: string, body: unknown) =>
  fetch(`${quickstart.direct.baseUrl}/v1/directmessage/${channel}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${quickstart.direct.token}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })

/** One SMS while the SMSC refuses every destination. */
async function throughChaos(pombo: Installation, send: ReturnType<typeof accepting>): Promise<void> {
  const invalidDestination = 11
  await settled(pombo)
  await pombo.sandbox('PUT', '/chaos', { sms: { errors: [{ code: invalidDestination, rate: 1 }] } })
  await send(usual[4]!(carlos, 0))
  await settled(pombo)
  await pombo.sandbox('DELETE', '/chaos')
}

type Listed = {
  id: string
  state: string
  channel: string
  contactId: string | null
  templateName: string | null
}
const list = async (pombo: Installation, query = ''): Promise<Listed[]> =>
  (await pombo.admin<{ items: Listed[] }>('GET', `/messages?limit=200${query}`)).items

const ends = ['delivered', 'read', 'failed', 'blocked']

async function settled(pombo: Installation): Promise<void> {
  await waitFor(
    async () => (await list(pombo)).every(({ state }) => ends.includes(state)),
    30_000,
    'the end of every message',
  )
}

type OnPhone = { id: string; text: string; whatsapp?: { template?: { name: string } } }

async function talk(pombo: Installation): Promise<void> {
  const line = pombo.quickstart.lines.find((one) => one.channel === 'whatsapp' && one.default)!
  const to = `${line.countryCode}${line.phoneNumber}`
  const write = (person: Person, text: string) =>
    pombo.sandbox('POST', '/answers', { channel: 'whatsapp', from: numberOf(person), to, text })
  const readAll = async () => {
    const { messages } = await pombo.sandbox<{ messages: OnPhone[] }>(
      'GET',
      `/messages?channel=whatsapp&to=${numberOf(maria)}&direction=toPerson`,
    )
    for (const { id } of messages) await pombo.sandbox('POST', `/messages/${id}/read`)
    return messages
  }
  const messages = await readAll()
  const mariaId = await contactOf(pombo, maria)
  const hasWritten = (count: number) => async () =>
    (await pombo.admin<{ items: { contactId: string }[] }>('GET', '/received')).items.filter(
      ({ contactId }) => contactId === mariaId,
    ).length >= count
  const offers = messages.find(({ whatsapp }) => whatsapp?.template?.name === 'spring_offers')!
  await pombo.sandbox('POST', `/messages/${offers.id}/button`, { index: 0, card: 0 })
  // What is sent at once may arrive in another order.
  await waitFor(hasWritten(1), 20_000, "Maria's choice")
  await write(maria, 'Could you bring the tulips together with order 4711?')
  await waitFor(hasWritten(2), 20_000, "Maria's answer")
  await pombo.admin('POST', '/attendances', { contactId: mariaId })
  await pombo.admin('POST', `/contacts/${mariaId}/messages`, {
    channel: 'whatsapp',
    text: 'Of course, Maria. Both arrive on Wednesday, and the tulips come in water.',
  })
  await settled(pombo)
  await readAll()
  await write(maria, 'Perfect, thank you!')
  await write(joao, 'Can I come on Friday instead?')
  await write(beatriz, 'The parcel is here, all is well.')
  await waitFor(hasWritten(3), 20_000, "Maria's thanks")
  const waiting = async () =>
    (await pombo.admin<{ items: unknown[] }>('GET', '/attendances/waiting')).items.length >= 2
  await waitFor(waiting, 20_000, 'the two who wait')
}

async function contactOf(pombo: Installation, person: Person): Promise<string> {
  const [message] = await list(pombo, `&recipient=${numberOf(person)}`)
  return message!.contactId!
}

async function findShown(pombo: Installation): Promise<Filled> {
  const [ofMaria, blocked, templates] = await Promise.all([
    list(pombo, `&recipient=${numberOf(maria)}`),
    list(pombo, '&state=blocked'),
    pombo.admin<{ items: { id: string; kind: string }[] }>('GET', '/templates?limit=200'),
  ])
  return {
    readMessageId: ofMaria.find(({ templateName }) => templateName === 'Invoice')!.id,
    refusedMessageId: blocked[0]!.id,
    carouselId: templates.items.find(({ kind }) => kind === 'carousel')!.id,
    mariaId: ofMaria[0]!.contactId!,
  }
}

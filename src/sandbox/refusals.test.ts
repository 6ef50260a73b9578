/** Every row of the table is provoked over a real socket; a row without a case does not compile. */
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFile } from 'node:fs/promises'
import { bindForeign, connectForeign } from './foreign-smpp.ts'
import { emailRefusals, refusalsAsMarkdown, smsRefusals, whatsappRefusals } from './refusals.ts'
import type { EmailRefusalKey, SmsRefusalKey, WhatsAppRefusalKey } from './refusals.ts'
import type { Sandbox, TemplateInput } from './sandbox.ts'
import { callApi, callGraph, startReceiver, startTestSandbox, until } from './testing.ts'
import type { Loose } from './testing.ts'

const phoneId = '100000000000001'
const business = '+5531955550001'
const open = '5531966660001'

const body = (text: string) => ({ type: 'BODY', text, example: { body_text: [['x']] } })
const template = (name: string, more: Partial<TemplateInput> = {}): TemplateInput => ({
  name,
  language: 'pt_BR',
  category: 'UTILITY',
  components: [body('Oi {{1}}!')],
  ...more,
})

let sandbox: Sandbox
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeAll(async () => {
  receiver = await startReceiver()
  sandbox = await startTestSandbox({
    smtp: { maxBytes: 2_000 },
    graph: {
      webhookUrl: receiver.url,
      phoneNumbers: [
        { id: phoneId, number: business },
        { id: '100000000000002', number: '+5531955550002', throughputPerSecond: 1 },
      ],
      templates: [
        template('ola'),
        template('pausado', { status: 'PAUSED' }),
        template('desligado', { status: 'DISABLED' }),
        template('esperando', { status: 'PENDING' }),
        template('com_imagem', { components: [{ type: 'HEADER', format: 'IMAGE' }, body('Oi {{1}}!')] }),
        {
          name: 'codigo',
          language: 'pt_BR',
          category: 'AUTHENTICATION',
          components: [
            { type: 'BODY' },
            { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
          ],
        },
      ],
    },
  })
  sandbox.openWindow(phoneId, open)
})
afterAll(async () => {
  await sandbox.stop()
  await receiver.stop()
})

describe('WhatsApp', () => {
  const text = (value: string) => ({ type: 'text', text: value })
  const post = async (message: object, phone = phoneId): Promise<Loose> => {
    const answer = await callGraph(sandbox, `/${phone}/messages`, 'POST', {
      messaging_product: 'whatsapp',
      to: open,
      ...message,
    })
    expect(answer.status, JSON.stringify(answer.body)).toBeGreaterThanOrEqual(400)
    return answer.body.error
  }
  const postTemplate = (name: string, parameters: object[] = [text('Ana')], more: object = {}) =>
    post({
      type: 'template',
      template: { name, language: { code: 'pt_BR' }, components: [{ type: 'body', parameters }] },
      ...more,
    })
  const upload = async (type: string, size: number): Promise<Loose> => {
    const form = new FormData()
    form.set('messaging_product', 'whatsapp')
    form.set('file', new Blob([new Uint8Array(size)], { type }), 'file')
    const headers = { authorization: `Bearer ${sandbox.graph.accessToken}` }
    return (await (
      await fetch(`${sandbox.graph.baseUrl}/${phoneId}/media`, { method: 'POST', headers, body: form })
    ).json()) as Loose
  }

  const cases: Record<WhatsAppRefusalKey, () => Promise<Loose>> = {
    wrongToken: async () => (await callGraph(sandbox, `/${phoneId}`, 'GET', undefined, 'wrong')).body.error,
    unknownObject: () => post({ type: 'text', text: { body: 'x' } }, '999'),
    notReadable: async () =>
      (await callGraph(sandbox, `/${phoneId}/messages`, 'POST', '{"messaging_product":')).body.error,
    noProduct: () => post({ messaging_product: undefined, type: 'text', text: { body: 'x' } }),
    missingParameter: () => post({ to: undefined, type: 'text', text: { body: 'x' } }),
    invalidParameter: () => post({ to: 'somebody', type: 'text', text: { body: 'x' } }),
    unsupportedType: () => post({ type: 'hologram', hologram: {} }),
    textTooLong: () => post({ type: 'text', text: { body: 'x'.repeat(4097) } }),
    captionTooLong: () =>
      post({ type: 'image', image: { link: 'https://x.test/a.png', caption: 'x'.repeat(1025) } }),
    closedWindow: () => post({ to: '5531966660002', type: 'text', text: { body: 'x' } }),
    sameNumber: () => post({ to: business, type: 'text', text: { body: 'x' } }),
    notOnWhatsApp: async () => {
      const to = '5531900131026'
      const answer = await callGraph(sandbox, `/${phoneId}/messages`, 'POST', {
        messaging_product: 'whatsapp',
        to,
        type: 'template',
        template: {
          name: 'ola',
          language: { code: 'pt_BR' },
          components: [{ type: 'body', parameters: [text('Ana')] }],
        },
      })
      expect(answer.status).toBe(200)
      const failed = await until(() => receiver.statuses().find((status) => status.recipient_id === to))
      expect(failed.status).toBe('failed')
      return failed.errors[0]
    },
    pairRate: async () => {
      const to = '5531966660045'
      sandbox.openWindow(phoneId, to)
      for (let count = 0; count < 45; count++) {
        const { status } = await callGraph(sandbox, `/${phoneId}/messages`, 'POST', {
          messaging_product: 'whatsapp',
          to,
          type: 'text',
          text: { body: 'x' },
        })
        expect(status).toBe(200)
      }
      return post({ to, type: 'text', text: { body: 'x' } })
    },
    throughput: () =>
      until(async () => {
        const message = {
          messaging_product: 'whatsapp',
          to: '5531966660003',
          type: 'text',
          text: { body: 'x' },
        }
        const { body: answer } = await callGraph(sandbox, '/100000000000002/messages', 'POST', message)
        return answer.error.code === 130429 ? answer.error : undefined
      }),
    unknownTemplate: () => postTemplate('nao_existe'),
    templateNotApproved: () => postTemplate('esperando'),
    templatePaused: () => postTemplate('pausado'),
    templateDisabled: () => postTemplate('desligado'),
    parameterCount: () => postTemplate('ola', [text('Ana'), text('Bia')]),
    parameterContent: () => postTemplate('ola', [text('uma\nduas')]),
    parameterFormat: () => postTemplate('com_imagem'),
    renderedTooLong: () => postTemplate('ola', [text('x'.repeat(1100))]),
    mediaTooLarge: async () => (await upload('image/png', 5 * 1024 * 1024 + 1)).error,
    mediaWrongType: async () => (await upload('application/x-msdownload', 10)).error,
    unknownMedia: () => post({ type: 'image', image: { id: '123' } }),
    authenticationToUserId: () =>
      postTemplate('codigo', [text('1')], { to: undefined, recipient: 'BR.abc123' }),
    templateShape: async () => {
      const bad = { ...template('Nome Ruim'), name: 'Nome Ruim' }
      return (await callGraph(sandbox, `/${sandbox.graph.wabaId}/message_templates`, 'POST', bad)).body.error
    },
  }
  test.each(Object.entries(cases))('%s', async (key, provoke) => {
    const row: { code: number; subcode?: number } = whatsappRefusals[key as WhatsAppRefusalKey]
    const error = await provoke()
    expect(error.code).toBe(row.code)
    expect(error.error_subcode).toBe(row.subcode)
    expect(error.message).toEqual(expect.any(String))
  })

  test('told later instead of at once, when the setting says so', async () => {
    await callApi(sandbox, '/api/settings', 'PUT', { whatsapp: { lateRefusals: true } })
    const to = '5531966660009'
    const message = { messaging_product: 'whatsapp', to, type: 'text', text: { body: 'x' } }
    expect((await callGraph(sandbox, `/${phoneId}/messages`, 'POST', message)).status).toBe(200)
    const failed = await until(() => receiver.statuses().find((status) => status.recipient_id === to))
    expect(failed).toMatchObject({
      status: 'failed',
      errors: [{ code: 131047, title: 'Re-engagement message' }],
    })
    await callApi(sandbox, '/api/settings', 'PUT', { whatsapp: { lateRefusals: false } })
  })

  test.each([
    ['starts with a variable', [body('{{1}} oi')]],
    ['ends with a variable', [body('oi {{1}}')]],
    ['variables side by side', [body('oi {{1}} {{2}} tchau')]],
    ['numbers out of order', [body('oi {{2}} tchau')]],
    ['no sample', [{ type: 'BODY', text: 'oi {{1}} tchau' }]],
    ['long header', [{ type: 'HEADER', format: 'TEXT', text: 'x'.repeat(61) }, body('oi')]],
    ['long footer', [body('oi'), { type: 'FOOTER', text: 'x'.repeat(61) }]],
    ['long body', [body('x'.repeat(1025))]],
    [
      'eleven buttons',
      [
        body('oi'),
        { type: 'BUTTONS', buttons: Array.from({ length: 11 }, () => ({ type: 'QUICK_REPLY', text: 'a' })) },
      ],
    ],
    [
      'three links',
      [
        body('oi'),
        {
          type: 'BUTTONS',
          buttons: Array.from({ length: 3 }, () => ({ type: 'URL', text: 'a', url: 'https://x.test' })),
        },
      ],
    ],
    [
      'long button',
      [body('oi'), { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'x'.repeat(26) }] }],
    ],
    ['no body', [{ type: 'FOOTER', text: 'oi' }]],
  ])('a template that %s is not created', async (_, components) => {
    const answer = await callGraph(
      sandbox,
      `/${sandbox.graph.wabaId}/message_templates`,
      'POST',
      template('novo', { components }),
    )
    expect(answer.body.error.code).toBe(100)
    expect(answer.body.error.error_data.details.length).toBeGreaterThan(10)
  })
})

describe('SMS', () => {
  const submitOn = async (fields: object, bind: string | undefined = 'bind_transceiver'): Promise<number> => {
    const client = await connectForeign(sandbox)
    try {
      if (bind) expect((await bindForeign(client, sandbox, bind)).command_status).toBe(0)
      const destination = {
        destination_addr: '5531966660001',
        short_message: Buffer.from('x'),
        data_coding: 0,
      }
      return (await client.send('submit_sm', { ...destination, ...fields })).command_status
    } finally {
      client.close()
    }
  }
  const bindOn = async (systemId: string, password: string, times = 1): Promise<number> => {
    const client = await connectForeign(sandbox)
    try {
      let status = 0
      for (let count = 0; count < times; count++) {
        status = (
          await client.send('bind_transceiver', { system_id: systemId, password, interface_version: 0x34 })
        ).command_status
      }
      return status
    } finally {
      client.close()
    }
  }

  const cases: Record<SmsRefusalKey, () => Promise<number>> = {
    unknownSystemId: () => bindOn('stranger', 'x'),
    wrongPassword: () => bindOn(sandbox.smpp.systemId, 'x'),
    alreadyBound: () => bindOn(sandbox.smpp.systemId, sandbox.smpp.password, 2),
    notBound: () => submitOn({}, 'bind_receiver'),
    tooLong: () => submitOn({ short_message: Buffer.from('x'.repeat(161)) }),
    badSource: () => submitOn({ source_addr_ton: 5, source_addr: 'LojaDoMuroAlto' }),
    badDestination: () => submitOn({ destination_addr: '123' }),
    badDestinationTon: () => submitOn({ dest_addr_ton: 5, destination_addr: 'Maria' }),
    badEsmClass: () => submitOn({ esm_class: 0x40, short_message: Buffer.from([200, 1, 2]) }),
    badSchedule: () => submitOn({ schedule_delivery_time: 'tomorrow' }),
    badValidity: () => submitOn({ validity_period: 'tomorrow' }),
    badDataCoding: () => submitOn({ data_coding: 0x0e }),
    throttled: async () => {
      sandbox.setChaos({ sms: { throttlePerSecond: 1 } })
      const status = await until(async () => (await submitOn({})) || undefined)
      sandbox.setChaos({ sms: { throttlePerSecond: 0 } })
      return status
    },
    bySuffix: () => submitOn({ destination_addr: '5531900000020' }),
  }
  test.each(Object.entries(cases))('%s', async (key, provoke) => {
    expect(await provoke()).toBe(smsRefusals[key as SmsRefusalKey].code)
  })
  test('not bound at all', async () => {
    expect(await submitOn({}, '')).toBe(smsRefusals.notBound.code)
  })
  test.each([
    ['UCS-2 over 70 characters', { data_coding: 8, short_message: Buffer.alloc(142) }],
    [
      'a part over 153 characters',
      {
        esm_class: 0x40,
        short_message: Buffer.concat([Buffer.from([5, 0, 3, 1, 2, 1]), Buffer.alloc(154, 0x61)]),
      },
    ],
  ])('too long: %s', async (_, fields) => {
    expect(await submitOn(fields)).toBe(smsRefusals.tooLong.code)
  })
})

describe('E-mail', () => {
  const send = async (fields: object = {}, options: object = {}): Promise<Loose> => {
    const transport = createTransport({
      host: sandbox.smtp.host,
      port: sandbox.smtp.port,
      tls: { ca: sandbox.smtp.ca },
      auth: { user: sandbox.smtp.user, pass: sandbox.smtp.password },
      ...options,
    })
    const outcome = await transport
      .sendMail({ from: 'a@example.com', to: 'b@example.com', text: 'x', ...fields })
      .then(
        (info): Loose => ({ responseCode: 250, rejectedErrors: info.rejectedErrors }),
        (fault: Loose) => fault,
      )
    transport.close()
    return outcome
  }

  const cases: Record<EmailRefusalKey, () => Promise<Loose>> = {
    notAuthenticated: () => send({}, { auth: undefined }),
    wrongPassword: () => send({}, { auth: { user: sandbox.smtp.user, pass: 'wrong' } }),
    tooLarge: () => send({ text: 'x'.repeat(3_000) }),
    tooManyRecipients: async () => {
      const outcome = await send({ to: Array.from({ length: 101 }, (_, index) => `p${index}@example.com`) })
      return outcome.rejectedErrors[0]
    },
    unknownUser: () => send({ to: 'unknown+7@example.com' }),
    disabledUser: () => send({ to: 'disabled@example.com' }),
    mailboxFull: () => send({ to: 'full@example.com' }),
    greylisted: () => send({ to: 'greylist@example.com' }),
    unavailable: () => send({ to: 'unavailable@example.com' }),
    spam: () => send({ to: 'spam@example.com' }),
    throttled: async () => {
      sandbox.setChaos({ email: { throttlePerSecond: 1 } })
      const refusal = await until(async () => {
        const outcome = await send()
        return outcome.responseCode === 250 ? undefined : outcome
      })
      sandbox.setChaos({ email: { throttlePerSecond: 0 } })
      return refusal
    },
    byRule: async () => {
      const rule = { stage: 'to', pattern: '*@proibido.example', code: 550, words: '5.7.1 Rejected by rule' }
      expect((await callApi(sandbox, '/api/settings', 'PUT', { email: { rules: [rule] } })).status).toBe(200)
      return send({ to: 'x@proibido.example' })
    },
  }
  test.each(Object.entries(cases))('%s', async (key, provoke) => {
    const row = emailRefusals[key as EmailRefusalKey]
    const fault = await provoke()
    expect(fault.responseCode).toBe(row.code)
    // nodemailer drops a message that is announced as too large on the server's own words.
    if (key !== 'tooLarge' && key !== 'tooManyRecipients')
      expect(fault.response).toBe(`${row.code} ${row.words}`)
  })
  test('greylisted only the first time', async () => {
    await send({ to: 'greylist+2@example.com' })
    expect((await send({ to: 'greylist+2@example.com' })).responseCode).toBe(250)
  })
})

test('the table stands in the documentation as it is in the code', async () => {
  const page = await readFile(new URL('../../docs/sandbox.md', import.meta.url), 'utf8')
  // The formatter aligns the columns of tables; widths are not what is compared.
  const plain = (text: string) =>
    text
      .replaceAll(/-{2,}/g, '--')
      .replaceAll(/ {2,}/g, ' ')
      .replaceAll('| --', '|--')
      .replaceAll('-- |', '--|')
  expect(plain(page)).toContain(plain(refusalsAsMarkdown()))
})

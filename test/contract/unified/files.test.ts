import { createHash, randomBytes } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  expectAccepted,
  expectInvalid,
  freshPhone,
  useUnified,
  type Body,
  type TestPhone,
} from './support.ts'

const u = useUnified()
const c = () => u.company
let open: TestPhone

beforeAll(async () => {
  open = freshPhone()
  await c().openWindow(await c().addContact(open), c().lines.main.id, u.app.clock.now())
})

const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64')
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const png = Buffer.from('89504e470d0a1a0a', 'hex')

const byEmail = (files: unknown, extra: Body = {}) => c().send(c().email({ files, ...extra }))
const byWhatsapp = (files: unknown, extra: Body = {}) => c().send(c().whatsappText(open, { files, ...extra }))
const channels = { email: byEmail, whatsapp: byWhatsapp }
const both = ['email', 'whatsapp'] as const

describe('a file by base64', () => {
  test.for(both)('is stored with its content and name (%s)', async (channel) => {
    const bytes = randomBytes(300_000)
    const answer = await channels[channel]([{ address: '', base64: base64(bytes), name: 'Relatório 1.pdf' }])
    expectAccepted(answer)
    const [file] = (await c().message(answer)).content.files
    expect(file).toEqual({
      name: 'Relatório 1.pdf',
      mimeType: 'application/pdf',
      source: { kind: 'stored', hash: sha256(bytes), size: bytes.length },
    })
    const chunks = await u.app.db.query<{ bytes: Buffer }>(
      'select bytes from file_chunk where company_id = $1 and hash = $2 order by position',
      [c().id, Buffer.from(sha256(bytes), 'hex')],
    )
    expect(Buffer.concat(chunks.map((chunk) => chunk.bytes)).equals(bytes)).toBe(true)
  })

  test('is stored once, however often it is sent', async () => {
    const bytes = randomBytes(1000)
    for (let turn = 0; turn < 3; turn++)
      expectAccepted(await byEmail([{ base64: base64(bytes), name: `copy ${turn}.txt` }]))
    const rows = await u.app.db.query('select size from file where company_id = $1 and hash = $2', [
      c().id,
      Buffer.from(sha256(bytes), 'hex'),
    ])
    expect(rows).toEqual([{ size: 1000 }])
  })

  test.for(['data:image/png;base64,', 'data:;base64,', 'DATA:image/png;charset=x;BASE64,'])(
    'may have the prefix %s',
    async (prefix) => {
      const answer = await byEmail([{ base64: `${prefix}${base64(png)}`, name: 'a.png' }])
      expectAccepted(answer)
      expect((await c().message(answer)).content.files[0]!.source.hash).toBe(sha256(png))
    },
  )

  test.for<[string, (text: string) => string]>([
    ['without its padding', (text) => text.replace(/=+$/, '')],
    ['in lines of 76 characters', (text) => text.replace(/.{76}/g, '$&\r\n')],
  ])('may come %s', async ([, change]) => {
    const bytes = randomBytes(1000)
    const answer = await byEmail([{ base64: change(base64(bytes)), name: 'a.txt' }])
    expectAccepted(answer)
    expect((await c().message(answer)).content.files[0]!.source.hash).toBe(sha256(bytes))
  })

  test.for(['not base64!', '%%%%', 'Y', 'YQ=x', 'data:image/png;base64,***', '😀😀😀😀'])(
    'that is none, %j: 400 under its path',
    async (given) => {
      const before = await c().traces()
      expectInvalid(await byEmail([{}, { base64: given, name: 'a.txt' }]), 'files[1].base64')
      expect(await c().traces()).toEqual(before)
    },
  )

  test('wins over an address when both are given', async () => {
    const answer = await byEmail([
      { base64: base64(png), address: 'https://example.com/other.png', name: 'a.png' },
    ])
    expectAccepted(answer)
    expect((await c().message(answer)).content.files[0]!.source).toMatchObject({ kind: 'stored' })
  })
})

describe('a file by address', () => {
  test.for(['https://example.com/a.png', 'http://example.com:8080/x?y=z#w'])(
    '%s is taken',
    async (address) => {
      const answer = await byEmail([{ address, base64: '', name: 'a.png' }])
      expectAccepted(answer)
      expect((await c().message(answer)).content.files[0]).toEqual({
        name: 'a.png',
        mimeType: 'image/png',
        source: { kind: 'address', url: address },
      })
    },
  )

  test.for([
    'ftp://example.com/a.png',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'example.com/a.png',
    '//example.com/a.png',
    'http://',
    'https:// x/',
  ])('%s is not: 400', async (address) => {
    expectInvalid(await byEmail([{ address, name: 'a.png' }]), 'files[0].address')
  })

  test('is not fetched when the message is accepted', async () => {
    let calls = 0
    const server = http.createServer((_, response) => {
      calls++
      response.end('x')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`
    expectAccepted(await byEmail([{ address, name: 'a.png' }]))
    expect(calls).toBe(0)
  })

  test('of the media library is read from the store', async () => {
    const item = await c().addMedia(png)
    const answer = await byEmail([{ address: item.url, name: 'a.png' }])
    expectAccepted(answer)
    expect((await c().message(answer)).content.files[0]!.source).toMatchObject({
      kind: 'stored',
      hash: sha256(png),
    })
  })
})

describe('what a file needs', () => {
  test('a name', async () => {
    for (const name of [undefined, null, ''])
      expectInvalid(await byEmail([{ base64: 'YQ==', name }]), 'files[0].name')
  })

  test('a name with an extension', async () => {
    for (const name of ['report', 'report.', '.txt'])
      expectInvalid(await byEmail([{ base64: 'YQ==', name }]), 'files[0].name')
  })

  test('base64 or an address', async () => {
    for (const file of [
      { name: 'a.txt' },
      { name: 'a.txt', base64: '', address: '' },
      { name: 'a.txt', base64: null },
    ])
      expectInvalid(await byEmail([file]), /^files\[0\](\.(base64|address))?$/)
  })

  test('every wrong file is named', async () => {
    expectInvalid(
      await byEmail([{ base64: 'YQ==', name: 'ok.txt' }, { base64: '!', name: 'a.txt' }, { base64: 'YQ==' }]),
      'files[1].base64',
      'files[2].name',
    )
  })
})

describe('types go by the extension', () => {
  test.for([
    ['a.PDF', 'application/pdf'],
    ['a.jpg', 'image/jpeg'],
    ['a.jpeg', 'image/jpeg'],
    ['a.png', 'image/png'],
    ['a.mp4', 'video/mp4'],
    ['a.txt', 'text/plain'],
    ['two.dots.zip', 'application/zip'],
  ])('%s is %s', async ([name, mimeType]) => {
    for (const channel of both) {
      const answer = await channels[channel]([{ base64: base64('x'), name }])
      expectAccepted(answer)
      expect((await c().message(answer)).content.files[0]).toMatchObject({ name, mimeType })
    }
  })

  test.for(both)('one that the channel does not know: 400 (%s)', async (channel) => {
    expectInvalid(await channels[channel]([{ base64: 'YQ==', name: 'a.qqqqq' }]), /^files\[0\]/)
  })

  test('one that is too large for its type: 400, while the largest goes', async () => {
    const limit = 5 * 1024 * 1024
    expectInvalid(
      await byWhatsapp([{ base64: base64(Buffer.alloc(limit + 1)), name: 'a.png' }]),
      /^files\[0\]/,
    )
    // A document of that size is fine.
    expectAccepted(await byWhatsapp([{ base64: base64(Buffer.alloc(limit + 1)), name: 'a.pdf' }]))
  })
})

describe('how many', () => {
  const file = (name: string) => ({ base64: base64(name), name })

  test.for(both)('several in a free text, a ZIP archive among them (%s)', async (channel) => {
    const answer = await channels[channel]([file('a.pdf'), file('b.png'), file('c.zip')], {
      text: 'Here they are',
    })
    expectAccepted(answer)
    const { content } = await c().message(answer)
    expect(content.text).toBe('Here they are')
    expect(content.files.map((item) => item.name)).toEqual(['a.pdf', 'b.png', 'c.zip'])
  })

  test.for(both)('and without any text (%s)', async (channel) => {
    const answer = await channels[channel]([file('a.pdf')], { text: '' })
    expectAccepted(answer)
    expect((await c().message(answer)).content.files).toHaveLength(1)
  })

  test('none by SMS: 400', async () => {
    const before = await c().traces()
    expectInvalid(await c().send(c().sms({ files: [file('a.pdf')] })), /^files/)
    expectInvalid(
      await c().send(
        c().sms({
          templateName: c().templates.sms.name,
          templateParameters: [{ parameterName: 'Order', parameterValue: '1' }],
          files: [file('a.pdf')],
        }),
      ),
      /^files/,
    )
    expect(await c().traces()).toMatchObject({ messages: before['messages'], contacts: before['contacts'] })
  })
})

describe('a file with a template', () => {
  const pdf = { base64: base64('%PDF'), name: 'invoice.pdf' }
  const picture = { base64: base64(png), name: 'a.png' }

  test('by e-mail is attached', async () => {
    const answer = await c().send(
      c().email({
        templateName: c().templates.email.name,
        templateParameters: [{ parameterName: 'Order', parameterValue: '1' }],
        files: [pdf],
      }),
    )
    expectAccepted(answer)
    expect((await c().message(answer)).content.files).toMatchObject([{ name: 'invoice.pdf' }])
  })

  test.for([
    ['document', pdf],
    ['image', picture],
  ] as const)('by WhatsApp goes into its media header (%s)', async ([kind, file]) => {
    const template = await c().addTemplate({ channel: 'whatsapp', content: { body: 'Hi', header: { kind } } })
    const answer = await c().send(
      c().whatsapp({ templateName: template.name, templateParameters: [], files: [file] }),
    )
    expectAccepted(answer)
    expect((await c().message(answer)).content.header).toMatchObject({
      kind: 'media',
      mediaKind: kind,
      file: { name: file.name },
    })
  })

  test('by WhatsApp without a media header: 400', async () => {
    expectInvalid(await c().send(c().whatsapp({ files: [pdf] })), /^files/)
  })

  test.for(both)('more than one: 400 (%s)', async (channel) => {
    const template = await c().addTemplate({
      channel,
      content: { body: 'Hi', ...(channel === 'whatsapp' && { header: { kind: 'document' as const } }) },
    })
    const body = c()[channel]({ templateName: template.name, templateParameters: [], files: [pdf, pdf] })
    expectInvalid(await c().send(body), /^files/)
  })
})

import { createHash, createVerify, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerOptions } from 'smtp-server'
import { describe, expect, test } from 'vitest'
import { createSelfSignedCertificate } from '../../lib/self-signed-certificate.ts'
import {
  atEnd,
  deadPort,
  guardDriverTests,
  listen,
  openLine,
  testFaults,
  testMessage,
  testText,
  until,
} from '../driver-test.ts'
import type { FaultCase } from '../driver-test.ts'
import { htmlToText } from './html-to-text.ts'
import { smtp } from './index.ts'

guardDriverTests()

type Received = { raw: Buffer; from: string; to: string[]; isSecure: boolean; user: unknown }

async function mailServer(options: SMTPServerOptions = {}): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const from = session.envelope.mailFrom
        received.push({
          raw: Buffer.concat(chunks),
          from: from === false ? '' : from.address,
          to: session.envelope.rcptTo.map(({ address }) => address),
          isSecure: session.secure,
          user: session.user,
        })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const address = server.server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, received }
}

const plain = (port: number, more: Record<string, unknown> = {}) => ({
  host: '127.0.0.1',
  port,
  security: 'none',
  ...more,
})
const mail = (text = 'Hello', more: Parameters<typeof testText>[1] = {}) =>
  testMessage({ recipient: 'ana@example.com', content: testText(text, { subject: 'Hi', ...more }) })

/** A server of our own words: says each reply when its command comes, and does what no well-kept server does. */
async function scriptedServer(
  act: (command: string, socket: Socket) => string | undefined,
): Promise<{ port: number; commands: string[] }> {
  const commands: string[] = []
  const port = await listen(
    createServer((socket) => {
      let isData = false
      let buffered = ''
      socket.on('data', (chunk) => {
        buffered += chunk.toString('latin1')
        for (;;) {
          const end = buffered.indexOf(isData ? '\r\n.\r\n' : '\r\n')
          if (end < 0) return
          const command = isData ? '.' : buffered.slice(0, end).toUpperCase()
          buffered = buffered.slice(end + (isData ? 5 : 2))
          isData = false
          commands.push(command)
          const reply = act(command, socket) ?? (command === 'DATA' ? '354 go on' : '250 fine')
          if (reply !== '' && !socket.destroyed) socket.write(`${reply}\r\n`)
          if (command === 'DATA' && reply.startsWith('354')) isData = true
        }
      })
      socket.write(act('CONNECT', socket) ?? '220 ready\r\n')
    }),
  )
  return { port, commands }
}

describe('what is sent', () => {
  test('a plain text, with a Message-ID that stays the same when it is sent again', async () => {
    const { port, received } = await mailServer()
    const line = openLine(
      smtp,
      plain(port, {
        fromName: 'Pombo "Mail"',
        replyTo: 'answers@pombo.example',
        bounceAddress: 'bounce@pombo.example',
      }),
    )
    const message = mail('Olá, você!\r\n.\r\nline')
    const results = [await line.send(message), await line.send({ ...message, attempt: 2 })]
    expect(results[0]).toEqual(results[1])
    expect(results[0]).toMatchObject({ ok: true, providerIds: [`${message.id}@pombo.example`] })
    const [first, second] = await Promise.all(received.map(({ raw }) => PostalMime.parse(raw)))
    expect(first!.messageId).toBe(`<${message.id}@pombo.example>`)
    expect(second!.messageId).toBe(first!.messageId)
    expect(first!.text!.replaceAll('\r\n', '\n').trim()).toBe('Olá, você!\n.\nline')
    expect(first!.from).toMatchObject({ name: 'Pombo "Mail"', address: 'sender@pombo.example' })
    expect(first!.replyTo?.[0]?.address).toBe('answers@pombo.example')
    expect(received[0]).toMatchObject({ from: 'bounce@pombo.example', to: ['ana@example.com'] })
    expect(line.health().isUp).toBe(true)
  })

  test('HTML with a plain alternative, and files', async () => {
    const { port, received } = await mailServer()
    const file = {
      name: 'nota “fiscal”.pdf',
      mimeType: 'application/pdf',
      source: { kind: 'stored' as const, hash: 'aa', size: 3 },
    }
    const message = mail('<p>Hello <b>Ana</b></p><a href="https://a.example/x">here</a>', {
      isHtml: true,
      files: [file],
    })
    message.files.set('aa', { bytes: Buffer.from([0, 255, 10]), name: file.name, mimeType: file.mimeType })
    expect(await openLine(smtp, plain(port)).send(message)).toMatchObject({ ok: true })
    const parsed = await PostalMime.parse(received[0]!.raw)
    expect(parsed.html).toContain('<b>Ana</b>')
    expect(parsed.text!.trim()).toBe('Hello Ana\n\nhere (https://a.example/x)')
    const [attached] = parsed.attachments
    expect(attached).toMatchObject({ filename: file.name, mimeType: 'application/pdf' })
    expect(attached!.content).toEqual(Uint8Array.of(0, 255, 10).buffer)
  })

  test('nothing that a caller writes becomes a header, a recipient or a command', async () => {
    const { port, received } = await mailServer()
    const line = openLine(smtp, plain(port, { fromName: 'A\r\nBcc: evil@example.com' }))
    const evil = 'x\r\nBcc: evil@example.com\r\n\r\nbody\u2028\u0000'
    const file = {
      name: `${evil}.txt`,
      mimeType: `text/plain\r\nX-Evil: 1`,
      source: { kind: 'stored' as const, hash: 'h', size: 1 },
    }
    const message = mail('text', { subject: evil, files: [file] })
    message.files.set('h', { bytes: Buffer.from('a'), ...file })
    expect(await line.send({ ...message, unsubscribeUrl: 'https://a.example/\r\nX-Evil: 1' })).toMatchObject({
      ok: true,
    })
    const parsed = await PostalMime.parse(received[0]!.raw)
    expect(parsed.headers.map(({ key }) => key)).not.toContain('bcc')
    expect(parsed.headers.map(({ key }) => key)).not.toContain('x-evil')
    expect(received[0]!.to).toEqual(['ana@example.com'])
    for (const recipient of [
      'a@example.com\r\nRCPT TO:<b@example.com>',
      'a@example.com, b@example.com',
      'A <a@example.com>',
      'a@example.com>\n',
      '',
    ]) {
      const refused = await line.send({ ...message, recipient })
      expect(refused).toMatchObject({ ok: false, error: { kind: 'invalid_message' } })
    }
    expect(received).toHaveLength(1)
  })

  test('a text that names files or addresses is only a text', async () => {
    const { port, received } = await mailServer()
    await openLine(smtp, plain(port)).send(mail('<img src="file:///etc/passwd">', { isHtml: true }))
    expect(received[0]!.raw.toString()).not.toContain('root:')
  })

  test('signed by DKIM over every header that counts, List-Unsubscribe-Post included', async () => {
    const { port, received } = await mailServer()
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const line = openLine(
      smtp,
      plain(port, {
        dkimDomain: 'pombo.example',
        dkimSelector: 's1',
        dkimPrivateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      }),
    )
    const longUrl = `https://pombo.example/u/${'t'.repeat(300)}`
    await line.send({ ...mail(), unsubscribeUrl: longUrl })
    const raw = received[0]!.raw.toString('latin1')
    expect(raw).toContain(`List-Unsubscribe: <${longUrl}>\r\n`)
    expect(verifyDkim(raw, publicKey)).toEqual({
      bodyHash: true,
      signature: true,
      signed: expect.arrayContaining([
        'from',
        'to',
        'subject',
        'message-id',
        'list-unsubscribe',
        'list-unsubscribe-post',
      ]),
    })
  })
})

const relaxed = (header: string): string => {
  const colon = header.indexOf(':')
  return `${header.slice(0, colon).trim().toLowerCase()}:${header
    .slice(colon + 1)
    .replaceAll(/\s+/g, ' ')
    .trim()}`
}

/** RFC 6376 with relaxed/relaxed, written apart from nodemailer's own code. */
function verifyDkim(
  raw: string,
  key: KeyObject,
): { bodyHash: boolean; signature: boolean; signed: string[] } {
  const split = raw.indexOf('\r\n\r\n')
  const headers = raw.slice(0, split).split(/\r\n(?![ \t])/)
  const body = `${raw
    .slice(split + 4)
    .replaceAll(/[ \t]+(?=\r\n)/g, '')
    .replaceAll(/[ \t]+/g, ' ')
    .replace(/(?:\r\n)*$/, '')}\r\n`
  const dkim = headers.find((header) => /^dkim-signature:/i.test(header))!
  const tags = new Map(
    relaxed(dkim)
      .slice(15)
      .split(';')
      .map((tag): [string, string] => [
        tag.split('=')[0]!.trim(),
        tag.slice(tag.indexOf('=') + 1).replaceAll(' ', ''),
      ]),
  )
  const signed = tags
    .get('h')!
    .split(':')
    .map((name) => name.toLowerCase())
  const data = [
    ...signed.map((name) => relaxed(headers.find((header) => header.toLowerCase().startsWith(`${name}:`))!)),
    relaxed(dkim)
      .replace(/(\bb=)[^;]*$/, '$1')
      .replace(/(; ?b=)[^;]*/, '$1'),
  ].join('\r\n')
  return {
    bodyHash: createHash('sha256').update(body, 'latin1').digest('base64') === tags.get('bh'),
    signature: createVerify('RSA-SHA256').update(data, 'latin1').verify(key, tags.get('b')!, 'base64'),
    signed,
  }
}

describe('the connection', () => {
  const { cert, key } = createSelfSignedCertificate(['localhost'], new Date())

  test.each(['starttls', 'tls'] as const)('%s with a user and a password', async (security) => {
    const { port, received } = await mailServer({
      authOptional: false,
      disabledCommands: [],
      secure: security === 'tls',
      key,
      cert,
      onAuth: ({ username, password }, _, done) =>
        password === 'right' ? done(null, { user: username }) : done(new Error('no')),
    })
    const settings = {
      host: 'localhost',
      port,
      security,
      username: 'ana',
      password: 'right',
      canBeUnverified: true,
    }
    expect(await openLine(smtp, settings).send(mail())).toMatchObject({ ok: true })
    expect(received[0]).toMatchObject({ isSecure: true, user: 'ana' })
    const wrong = await openLine(smtp, { ...settings, password: 'wrong' }).send(mail())
    expect(wrong).toMatchObject({
      ok: false,
      error: { kind: 'misconfigured', code: expect.stringMatching(/^535/) },
    })
    expect(JSON.stringify(wrong)).not.toContain('wrong"')
    const unverified = await openLine(smtp, { ...settings, canBeUnverified: false }).send(mail())
    expect(unverified).toMatchObject({ ok: false, error: { kind: 'misconfigured' } })
  })

  test('STARTTLS that the server does not offer is never done without', async () => {
    const { port, received } = await mailServer()
    const result = await openLine(smtp, plain(port, { security: 'starttls' })).send(mail())
    expect(result).toMatchObject({ ok: false, error: { kind: 'misconfigured' } })
    expect(received).toHaveLength(0)
  })

  test('a host that the guard does not allow', async () => {
    const refused = await openLine(smtp, { host: '10.0.0.1', port: 25, security: 'none' }).send(mail())
    expect(refused).toMatchObject({ ok: false, error: { kind: 'misconfigured', code: 'erefused' } })
  })

  test('goes on after the server ended an idle connection', async () => {
    const sockets: Socket[] = []
    const { port } = await scriptedServer((command, socket) => {
      if (command === 'CONNECT') sockets.push(socket)
      return undefined
    })
    const line = openLine(smtp, plain(port, { connections: 1 }))
    expect(await line.send(mail())).toMatchObject({ ok: true })
    sockets[0]!.destroy()
    expect(await line.send(mail())).toMatchObject({ ok: true })
    expect(sockets).toHaveLength(2)
  })

  test('many at once share the connections', async () => {
    const { port, received } = await mailServer()
    const line = openLine(smtp, plain(port, { connections: 3 }))
    const results = await Promise.all(Array.from({ length: 30 }, () => line.send(mail())))
    expect(results.every(({ ok }) => ok)).toBe(true)
    expect(received).toHaveLength(30)
  })

  test('closing ends what is under way instead of leaving it open', async () => {
    const { port, commands } = await scriptedServer((command) => (command === '.' ? '' : undefined))
    const line = openLine(smtp, plain(port))
    const sent = line.send(mail())
    await until('the message is there', () => commands.includes('.'))
    await line.close()
    expect(await sent).toMatchObject({ ok: false, error: { kind: 'no_answer' } })
  })
})

describe('answers of the server', () => {
  type Answer = { at: string; reply: string }
  const cases: FaultCase<Answer>[] = [
    {
      name: '550 5.1.1 unknown user',
      answer: { at: 'RCPT', reply: '550 5.1.1 No such user' },
      kind: 'rejected',
      code: '550 5.1.1',
    },
    {
      name: '550 5.2.1 disabled',
      answer: { at: 'RCPT', reply: '550 5.2.1 Mailbox disabled' },
      kind: 'rejected',
      code: '550 5.2.1',
    },
    {
      name: '552 5.2.2 full',
      answer: { at: 'RCPT', reply: '552 5.2.2 Mailbox full' },
      kind: 'rejected',
      code: '552 5.2.2',
    },
    {
      name: '553 5.1.3 bad address',
      answer: { at: 'RCPT', reply: '553 5.1.3 Bad address' },
      kind: 'invalid_message',
    },
    {
      name: '554 without enhanced code',
      answer: { at: '.', reply: '554 Rejected' },
      kind: 'rejected',
      code: '554',
    },
    { name: '554 5.7.1 spam', answer: { at: '.', reply: '554 5.7.1 Spam' }, kind: 'rejected' },
    {
      name: '550 5.7.515 sender not authenticated',
      answer: { at: '.', reply: '550 5.7.515 Access denied, sending domain' },
      kind: 'rejected',
    },
    { name: '552 5.3.4 too big', answer: { at: '.', reply: '552 5.3.4 Too big' }, kind: 'invalid_message' },
    {
      name: '552 as Exim says it',
      answer: { at: '.', reply: '552 Message size exceeds maximum permitted' },
      kind: 'invalid_message',
    },
    { name: '554 5.6.0 content', answer: { at: '.', reply: '554 5.6.0 Malformed' }, kind: 'invalid_message' },
    {
      name: '530 authentication required',
      answer: { at: 'MAIL', reply: '530 5.7.0 Authenticate first' },
      kind: 'misconfigured',
      code: '530 5.7.0',
    },
    {
      name: '550 sender refused',
      answer: { at: 'MAIL', reply: '550 5.1.8 Sender unknown' },
      kind: 'misconfigured',
    },
    {
      name: '554 relay denied',
      answer: { at: 'RCPT', reply: '554 5.7.1 Relay access denied' },
      kind: 'misconfigured',
    },
    {
      name: '421 at the door',
      answer: { at: 'CONNECT', reply: '421 4.3.2 Not available' },
      kind: 'unreachable',
      code: '421 4.3.2',
    },
    { name: '554 at the door', answer: { at: 'CONNECT', reply: '554 5.7.1 Go away' }, kind: 'rejected' },
    { name: '421 after RCPT', answer: { at: 'RCPT', reply: '421 4.3.2 Not available' }, kind: 'unreachable' },
    {
      name: '421 4.7.0 rate',
      answer: { at: 'MAIL', reply: '421 4.7.0 Too many messages, slow down' },
      kind: 'throttled',
    },
    {
      name: '450 4.7.1 rate',
      answer: { at: 'RCPT', reply: '450 4.7.1 Too many messages, slow down' },
      kind: 'throttled',
    },
    {
      name: '451 4.7.1 greylisted',
      answer: { at: 'RCPT', reply: '451 4.7.1 Greylisted, please try again later' },
      kind: 'throttled',
      isRecipientOnly: true,
    },
    {
      name: '450 4.2.0 mailbox busy',
      answer: { at: 'RCPT', reply: '450 4.2.0 Busy' },
      kind: 'throttled',
      isRecipientOnly: true,
    },
    {
      name: '452 4.2.2 full for now',
      answer: { at: 'RCPT', reply: '452 4.2.2 Full' },
      kind: 'throttled',
      isRecipientOnly: true,
    },
    {
      name: '452 4.3.1 no storage',
      answer: { at: 'DATA', reply: '452 4.3.1 No storage' },
      kind: 'throttled',
    },
    { name: '451 after the text', answer: { at: '.', reply: '451 4.3.0 Local error' }, kind: 'throttled' },
    {
      name: '503 out of order',
      answer: { at: 'DATA', reply: '503 5.5.1 Bad sequence' },
      kind: 'unreachable',
    },
    {
      name: 'greeting that is no SMTP',
      answer: { at: 'CONNECT', reply: 'SSH-2.0-OpenSSH_9.6' },
      kind: 'unreachable',
    },
    { name: 'gibberish after the text', answer: { at: '.', reply: 'what?' }, kind: 'unreadable_reply' },
  ]
  testFaults(cases, async ({ at, reply }) => {
    const { port } = await scriptedServer((command) =>
      command.startsWith(at) ? (at === 'CONNECT' ? `${reply}\r\n` : reply) : undefined,
    )
    return openLine(smtp, plain(port, { answerTimeoutSeconds: 2 })).send(mail())
  })

  test('goes on with the same connection after a refusal', async () => {
    let count = 0
    const { port, commands } = await scriptedServer((command) =>
      command.startsWith('RCPT') && count++ === 0 ? '550 5.1.1 no' : undefined,
    )
    const line = openLine(smtp, plain(port, { connections: 1 }))
    expect(await line.send(mail())).toMatchObject({ ok: false })
    expect(await line.send(mail())).toMatchObject({ ok: true })
    expect(commands.filter((command) => command === 'CONNECT')).toHaveLength(0)
    expect(commands.filter((command) => command.startsWith('EHLO'))).toHaveLength(1)
  })
})

describe('cut connections: before the text nothing was handed over, after it nobody knows', () => {
  test.each([
    ['CONNECT', 'unreachable'],
    ['EHLO', 'unreachable'],
    ['MAIL', 'unreachable'],
    ['RCPT', 'unreachable'],
    ['DATA', 'unreachable'],
    ['.', 'no_answer'],
  ])('cut at %s → %s', async (at, kind) => {
    const { port } = await scriptedServer((command, socket) => {
      if (!command.startsWith(at)) return undefined
      socket.destroy()
      return ''
    })
    expect(await openLine(smtp, plain(port)).send(mail())).toMatchObject({ ok: false, error: { kind } })
  })

  test('cut in the middle of the text', async () => {
    const port = await listen(
      createServer((socket) => {
        socket.write('220 ready\r\n')
        let seen = 0
        let isData = false
        socket.on('data', (chunk) => {
          if (isData) {
            seen += chunk.length
            if (seen > 100_000) socket.destroy()
          } else if (chunk.toString().startsWith('DATA')) {
            isData = true
            socket.write('354 go on\r\n')
          } else socket.write('250 fine\r\n')
        })
      }),
    )
    const result = await openLine(smtp, plain(port)).send(mail('long '.repeat(200_000)))
    expect(result).toMatchObject({ ok: false, error: { kind: 'no_answer' } })
  })

  test.each([
    ['CONNECT', 'unreachable'],
    ['RCPT', 'unreachable'],
    ['.', 'no_answer'],
  ])('silence at %s → %s', async (at, kind) => {
    const { port } = await scriptedServer((command) => (command.startsWith(at) ? '' : undefined))
    const result = await openLine(smtp, plain(port, { answerTimeoutSeconds: 1 })).send(mail())
    expect(result).toMatchObject({ ok: false, error: { kind } })
  })

  test('a server that trickles for ever is left, and the message never goes out afterwards', async () => {
    let drip: NodeJS.Timeout | undefined
    const { port, commands } = await scriptedServer((command, socket) => {
      if (!command.startsWith('RCPT')) return undefined
      drip = setInterval(() => socket.write('250-still thinking\r\n'), 50)
      return ''
    })
    atEnd(() => clearInterval(drip))
    const result = await openLine(smtp, plain(port, { answerTimeoutSeconds: 1 })).send(mail())
    expect(result).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
    expect(commands).not.toContain('DATA')
  })

  test('one byte at a time is still an answer', async () => {
    const port = await listen(
      createServer((socket) => {
        const say = (text: string): void => {
          const [first, ...rest] = text
          if (first === undefined || socket.destroyed) return
          socket.write(first)
          setImmediate(() => say(rest.join('')))
        }
        let isData = false
        say('220 ready\r\n')
        socket.on('data', (chunk) => {
          const text = chunk.toString()
          if (text.startsWith('DATA')) {
            isData = true
            return say('354 go on\r\n')
          }
          if (!isData || text.endsWith('\r\n.\r\n')) say('250-a\r\n250 2.0.0 Ok: queued as 4F3\r\n')
        })
      }),
    )
    const result = await openLine(smtp, plain(port)).send(mail())
    expect(result).toMatchObject({
      ok: true,
      exchange: { response: expect.stringContaining('queued as 4F3') },
    })
  })

  test('nobody listens', async () => {
    const result = await openLine(smtp, plain(await deadPort())).send(mail())
    expect(result).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
  })

  test('TLS to a server that speaks none', async () => {
    const { port } = await mailServer()
    const result = await openLine(smtp, plain(port, { security: 'tls' })).send(mail())
    expect(result).toMatchObject({ ok: false, error: { kind: 'misconfigured' } })
  })
})

test.each([
  ['<p>One</p><p>Two</p>', 'One\n\nTwo'],
  ['a<br>b<br/>c', 'a\nb\nc'],
  ['<ul><li>x</li><li>y</li></ul>', '- x\n- y'],
  ['<style>@media{}</style><script>alert(1)</script>text<!-- no -->', 'text'],
  ['<a href="https://a.example/">https://a.example/</a>', 'https://a.example/'],
  ['<a href="mailto:a@b.example">a@b.example</a>', 'a@b.example'],
  ["<a class=x href='https://a.example/?b=1&amp;c=2'>go</a>", 'go (https://a.example/?b=1&c=2)'],
  ['<a href="#top">top</a>', 'top'],
  [
    'Ol&aacute; voc&ecirc; &ccedil;&atilde;o &#233; &#xe9; &lt;b&gt; &unknown;',
    'Olá você ção é é <b> &unknown;',
  ],
  ['<img src=x alt="Logo"> 3 < 4', 'Logo 3 < 4'],
  ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
  ['', ''],
])('the plain text of %s', (html, text) => expect(htmlToText(html)).toBe(text))

test('a hostile HTML costs no more than its length', () => {
  const costOf = (piece: string, length: number) => {
    const times = Array.from({ length: 3 }, () => {
      // Of the processor: the clock also counts what else the machine does.
      const started = process.threadCpuUsage()
      htmlToText(piece.repeat(length / piece.length))
      return process.threadCpuUsage(started).user / 1000
    })
    return Math.min(...times)
  }
  for (const piece of ['<', '<a href=', '<!--', '<style>', '&', '<p ', ' \n', '<p "', `<p "'`, '<p a=">'])
    // Eight times the length: eight times the work, not sixty-four.
    expect(costOf(piece, 160_000) / Math.max(4, costOf(piece, 20_000))).toBeLessThan(32)
})

import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { clip } from './exchange.ts'
import { createRedactor, withoutSecrets } from './without-secrets.ts'

const schema = Type.Object({
  host: Type.String(),
  user: Type.String(),
  password: Type.String({ isSecret: true }),
  port: Type.Integer(),
  pin: Type.Optional(Type.String({ isSecret: true })),
})
const password = 's3cret/with"signs+ and=more'
const settings = { host: 'mail.example.com', user: 'ana', password, port: 25, pin: '12' }
const redact = createRedactor(schema, settings)

test('a secret is taken out however it is written, and nothing else is', () => {
  const ways = [
    password,
    JSON.stringify(password),
    JSON.stringify(JSON.stringify({ password })),
    encodeURIComponent(password),
    new URLSearchParams({ password }).toString(),
    Buffer.from(password).toString('base64'),
    `Basic ${Buffer.from(`ana:${password}`).toString('base64')}`,
  ]
  for (const way of ways) {
    const shown = redact(`before ${way} between ${way} after`)
    expect(shown, way).toContain('[secret]')
    for (const part of ['s3cret', Buffer.from(password).toString('base64').slice(0, 12)])
      expect(shown, way).not.toContain(part)
    expect(shown.startsWith('before ')).toBe(true)
    expect(shown.endsWith(' after')).toBe(true)
  }
  expect(redact('mail.example.com says 12 to ana')).toBe('mail.example.com says 12 to ana')
})

test('a secret that the end of a long text cuts through is taken out as well', () => {
  for (let left = 6; left < password.length; left++) {
    const text = clip('x'.repeat(4000 - left) + password + 'y'.repeat(100))
    expect(redact(text), `${left} characters`).not.toContain('s3cret')
    expect(redact(text)).toMatch(/ characters\)$/)
  }
})

test('what a session answers is clean: refusals, exchanges, health; a success is passed on as it is', async () => {
  const told = `refused ${password}`
  let isOk = false
  const session = withoutSecrets(
    {
      window: 3,
      send: async () =>
        isOk
          ? { ok: true, providerIds: ['1'] }
          : {
              ok: false,
              error: { kind: 'rejected', code: told, message: told },
              takenIds: [null],
              exchange: { request: told, response: told },
            },
      health: () => ({ isUp: false, detail: told }),
      close: async () => {},
    },
    schema,
    settings,
  )
  const message = {} as Parameters<typeof session.send>[0]
  expect(await session.send(message)).toEqual({
    ok: false,
    error: { kind: 'rejected', code: 'refused [secret]', message: 'refused [secret]' },
    takenIds: [null],
    exchange: { request: 'refused [secret]', response: 'refused [secret]' },
  })
  expect(session.health()).toEqual({ isUp: false, detail: 'refused [secret]' })
  expect(session.window).toBe(3)
  isOk = true
  expect(await session.send(message)).toEqual({ ok: true, providerIds: ['1'] })
})

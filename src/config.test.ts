import { describe, expect, test } from 'vitest'
import { staleFiles } from './cli/generate.ts'
import { ConfigError, envExample, processKind, readConfig, settings } from './config.ts'

const read = (env: Record<string, string>) => readConfig(env)

test('an empty environment gives the defaults', () => {
  expect(read({})).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    directPort: undefined,
    consolePort: undefined,
    databaseUrl: undefined,
    isDemo: true,
    roles: ['unified', 'direct', 'hooks', 'admin', 'worker'],
    maxSendBodyBytes: 32 * 1024 * 1024,
  })
})

test('an empty value is as if not given', () => {
  expect(read({ POMBO_PORT: '', POMBO_DEMO: '', DATABASE_URL: '' })).toEqual(read({}))
})

describe('a wrong value is refused by a sentence with name, value and what is allowed', () => {
  test.each([
    ['POMBO_PORT', 'http', 'POMBO_PORT is "http", but must be a whole number from 0 to 65535.'],
    ['POMBO_PORT', '65536', 'POMBO_PORT is "65536", but must be a whole number from 0 to 65535.'],
    ['POMBO_PORT', '-1', 'POMBO_PORT is "-1", but must be a whole number from 0 to 65535.'],
    ['POMBO_PORT', '80.5', 'POMBO_PORT is "80.5", but must be a whole number from 0 to 65535.'],
    ['POMBO_DEMO', 'yes', 'POMBO_DEMO is "yes", but must be true or false.'],
    [
      'POMBO_LOG_LEVEL',
      'loud',
      'POMBO_LOG_LEVEL is "loud", but must be one of debug, info, warn, error, silent.',
    ],
    ['POMBO_ROLES', 'worker,cook', 'POMBO_ROLES is "worker,cook", but must be any of'],
    ['POMBO_TRUSTED_PROXIES', 'localhost', 'POMBO_TRUSTED_PROXIES is "localhost", but must be addresses'],
    ['POMBO_PUBLIC_URL', 'pombo.example', 'POMBO_PUBLIC_URL is "pombo.example", but must be an address'],
    ['POMBO_ALERT_EMAIL_TO', 'ana', 'POMBO_ALERT_EMAIL_TO is "ana", but must be e-mail addresses'],
    [
      'POMBO_ALERT_SMTP_URL',
      'smtp://a:secret@b?security=some',
      'POMBO_ALERT_SMTP_URL is its value (not shown), but must be an address that starts with smtp:// or smtps://.',
    ],
    ['POMBO_ALERT_EMAIL_FROM', 'a@b.example', 'POMBO_ALERT_EMAIL_TO must be given together.'],
    ['POMBO_OUTBOUND_EXCEPTIONS', 'x', 'POMBO_OUTBOUND_EXCEPTIONS is "x", but must be items like'],
  ])('%s=%s', (name, value, sentence) => {
    expect(() => read({ [name]: value })).toThrow(ConfigError)
    expect(() => read({ [name]: value })).toThrow(sentence)
  })

  test('a secret is not repeated', () => {
    const attempt = () => read({ DATABASE_URL: 'mysql://root:hunter2@db', POMBO_SEALING_KEY: 'hunter2' })
    expect(attempt).toThrow(/DATABASE_URL is its value \(not shown\).*\n.*POMBO_SEALING_KEY/)
    expect(attempt).not.toThrow(/hunter2/)
  })

  test('all wrong values are told at once', () => {
    expect(() => read({ POMBO_PORT: 'x', POMBO_DEMO: 'x' })).toThrow(/POMBO_PORT.*\n.*POMBO_DEMO/)
  })

  test('half of the TLS files', () => {
    expect(() => read({ POMBO_TLS_CERT_FILE: 'cert.pem' })).toThrow('must be given together')
  })
})

test('values are read in the words of the program', () => {
  expect(
    read({
      POMBO_DIRECT_PORT: '9000',
      POMBO_PUBLIC_URL: 'https://pombo.example/',
      POMBO_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      POMBO_ROLES: 'worker',
      POMBO_SEALING_KEY: 'AB'.repeat(32),
      POMBO_MAX_BODY_MIB: '2',
      POMBO_DRAIN_SECONDS: '5',
    }),
  ).toMatchObject({
    directPort: 9000,
    publicUrl: 'https://pombo.example',
    trustedProxies: ['10.0.0.0/8', '::1'],
    roles: ['worker'],
    sealingKey: 'ab'.repeat(32),
    maxBodyBytes: 2 * 1024 * 1024,
    drainMs: 5000,
  })
})

test('what a child is for comes from the supervisor only', () => {
  expect([
    processKind({ POMBO_PROCESS: 'worker' }),
    processKind({ POMBO_PROCESS: 'x' }),
    processKind({}),
  ]).toEqual(['worker', undefined, undefined])
})

test('the example names every setting, and taken as it is it changes nothing', () => {
  const lines = envExample().split('\n')
  const given = Object.fromEntries(
    lines.flatMap((line) => {
      const match = /^#([A-Z_]+)=(.*)$/.exec(line)
      return match ? [[match[1]!, match[2]!]] : []
    }),
  )
  expect(Object.keys(given)).toEqual(Object.keys(settings))
  expect(read(given)).toEqual(read({}))
})

test('generated files are fresh', async () => {
  expect((await staleFiles()).map(({ path }) => path)).toEqual([])
})

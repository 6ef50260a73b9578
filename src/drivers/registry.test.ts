import { describe, expect, test } from 'vitest'
import { driverErrorPolicies } from './errors.ts'
import { driverNames, drivers, findDriver } from './registry.ts'
import { checkSettings, readSettings, secretSettings } from './settings.ts'

test('every driver is found by its name, once', () => {
  expect(new Set(driverNames).size).toBe(drivers.length)
  for (const driver of drivers) expect(findDriver(driver.name)).toBe(driver)
  expect(findDriver('no-such-driver')).toBeUndefined()
})

describe.each(drivers)('settings of $name', ({ settings }) => {
  test('each can be drawn: a title, and no unknown ones', () => {
    expect(settings).toHaveProperty('additionalProperties', false)
    for (const [name, property] of Object.entries(settings.properties)) {
      expect(property, name).toHaveProperty('title', expect.stringMatching(/^\S/))
    }
  })

  test('what is secret is marked', () => {
    const secrets = Object.keys(settings.properties).filter((name) =>
      /password|token|secret|privateKey/i.test(name),
    )
    expect(secretSettings(settings).toSorted()).toEqual(secrets.toSorted())
  })
})

const smtpSettings = findDriver('smtp')!.settings
test.each([
  [{}, 'host', 'is required'],
  [{ host: 'a', prot: 1 }, 'prot', 'is not a setting of this driver'],
  [{ host: 'a', port: 0 }, 'port', '1'],
  [{ host: 'a', port: '25' }, 'port', 'integer'],
  [{ host: 'a', security: 'some' }, 'security', ''],
])('%j is refused by the name of its field', (given, field, words) => {
  expect(checkSettings(smtpSettings, given)).toMatchObject({
    ok: false,
    field,
    reason: expect.stringContaining(words),
  })
})

test('defaults are filled in, the given object stays as it was', () => {
  const given = { host: 'a' }
  expect(readSettings(smtpSettings, given)).toMatchObject({
    host: 'a',
    port: 587,
    security: 'starttls',
    connections: 5,
  })
  expect(given).toEqual({ host: 'a' })
  expect(() => readSettings(smtpSettings, {})).toThrow(/host is required/)
})

test('only doubt makes a message unknown, and only a refusal of the line pauses it', () => {
  const kinds = Object.entries(driverErrorPolicies)
  expect(kinds.filter(([, { message }]) => message === 'unknown').map(([kind]) => kind)).toEqual([
    'unreadable_reply',
    'no_answer',
  ])
  expect(kinds.filter(([, { line }]) => line === 'pauses').map(([kind]) => kind)).toEqual(['misconfigured'])
})

/** A caller whom a process has seen before is not looked up again, and what changes about it still holds at once. */
import { describe, expect, test } from 'vitest'
import { request } from '../../harness/http.ts'
import { smsBody, useDirect } from '../direct/support.ts'
import { expectAccepted, expectInvalid, useUnified } from '../unified/support.ts'

describe('of the unified API', () => {
  const unified = useUnified()
  /** A company whose caller is known to the process. */
  const knownCompany = async () => {
    const company = await unified.newCompany()
    expectAccepted(await company.send(company.sms()))
    return company
  }
  const change = (statement: string, ...values: unknown[]) => unified.app.db.query(statement, values)

  test('a second message costs the two round trips of its batch', async () => {
    const company = await knownCompany()
    const { db } = unified.app.nodes[0]!
    const before = db.roundTrips
    expectAccepted(await company.send(company.sms()))
    expect(db.roundTrips - before).toBe(2)
  })

  test('a login elsewhere kills the token: 401 before anything is said about the body', async () => {
    const company = await knownCompany()
    await request(`${unified.app.url}/v1/login`, { body: company.credentials() })
    for (const body of [company.sms(), { text: '' }, 'no JSON', company.sms({ channel: 9 })])
      expect((await company.send(body)).status).toBe(401)
  })

  test('a user who is disabled or of another type is refused', async () => {
    for (const set of ['disabled_at = now()', "role = 'viewer'"]) {
      const company = await knownCompany()
      await change(`update app_user set ${set} where id = $1`, company.users.api.id)
      expect((await company.send(company.sms())).status).toBe(401)
    }
  })

  test('a private token that was rotated away is refused, and the new one is good', async () => {
    const company = await knownCompany()
    await change(
      `update company set private_token_hash = sha256('new token'), previous_private_token_hash = null where id = $1`,
      company.id,
    )
    expectInvalid(await company.send(company.sms()), 'platformPrivateToken')
    expectAccepted(await company.send(company.sms({ platformPrivateToken: 'new token' })))
  })

  test('a company that was suspended is told so', async () => {
    const company = await knownCompany()
    await change('update company set suspended_at = now() where id = $1', company.id)
    expectInvalid(await company.send(company.sms()), 'company')
  })

  test('a change that has nothing to do with the caller costs it nothing', async () => {
    const company = await knownCompany()
    await change("update company set sms_stop_words = '{basta}' where id = $1", company.id)
    expectAccepted(await company.send(company.sms()))
  })
})

describe('of the direct API', () => {
  const direct = useDirect()
  const knownCompany = async () => {
    const company = await direct.newCompany()
    expect((await company.send('sms', smsBody())).status).toBe(202)
    return company
  }
  const change = (tokenId: string, set: string) =>
    direct.app.db.query(`update direct_token set ${set} where id = $1`, [tokenId])

  test('a second message costs the two round trips of its batch', async () => {
    const company = await knownCompany()
    const { db } = direct.app.nodes[0]!
    const before = db.roundTrips
    expect((await company.send('sms', smsBody())).status).toBe(202)
    expect(db.roundTrips - before).toBe(2)
  })

  test('a token that was revoked is 401, whatever is wrong with the body', async () => {
    const company = await knownCompany()
    await change(company.directToken.id, 'revoked_at = now()')
    for (const body of [smsBody(), smsBody({ template_code: 7 }), 'no JSON'])
      expect((await company.send('sms', body)).status).toBe(401)
  })

  test.each(["channels = '{email}'", "allowed_addresses = '{192.0.2.1}'"])(
    'after %s it is 403',
    async (set) => {
      const company = await knownCompany()
      await change(company.directToken.id, set)
      for (const body of [smsBody(), smsBody({ template_code: 7 }), 'no JSON'])
        expect((await company.send('sms', body)).status).toBe(403)
    },
  )

  test('what was forbidden and is allowed again is sent', async () => {
    const company = await knownCompany()
    await change(company.directToken.id, "channels = '{email}'")
    expect((await company.send('sms', smsBody())).status).toBe(403)
    await change(company.directToken.id, "channels = '{email,sms}'")
    expect((await company.send('sms', smsBody())).status).toBe(202)
  })

  test('a body that is wrong is told so after a look', async () => {
    const company = await knownCompany()
    expect((await company.send('sms', smsBody({ template_code: 7 }))).status).toBe(422)
    expect((await company.send('sms', 'no JSON')).status).toBe(422)
  })
})

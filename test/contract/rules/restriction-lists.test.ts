import { describe, expect, test } from 'vitest'
import { channels } from '../../../src/domain/channel.ts'
import { randomMobile } from '../../harness/factories.ts'
import {
  bodies,
  emailBody,
  expectAccepted,
  expectConflicts,
  freshEmail,
  smsBody,
  useDirect,
  whatsappBody,
} from '../direct/support.ts'
import { addList, hourMs } from './support.ts'

const d = useDirect()

describe('restriction list', () => {
  test('conflicts lists every reason, in a stable order, for example several lists with the same recipient', async () => {
    const company = await d.newCompany()
    const phone = randomMobile()
    const one = await addList(d.app, company.id, [{ field: 'phone', value: phone }], { position: 2 })
    const two = await addList(d.app, company.id, [{ field: 'phone', value: phone }], { position: 1 })
    const reason = (list: { name: string }) => `phone number is on the restriction list "${list.name}"`
    for (let round = 0; round < 3; round++)
      expectConflicts(
        await company.send('sms', smsBody({ recipient_number: phone })),
        reason(two),
        reason(one),
      )
    expectAccepted(await company.send('sms', smsBody()))
  })

  test('by phone, e-mail, document number and contract code', async () => {
    const company = await d.newCompany()
    const email = freshEmail()
    const phone = randomMobile()
    await addList(d.app, company.id, [
      { field: 'phone', value: phone },
      { field: 'email', value: email.toUpperCase() },
      { field: 'document', value: '999.888.777-66' },
      { field: 'contract', value: 'BAD' },
    ])
    expectConflicts(
      await company.send('whatsapp', whatsappBody({ recipient_number: phone })),
      /^phone number is on/,
    )
    expectConflicts(
      await company.send('email', emailBody({ recipient_email: email })),
      /^e-mail address is on/,
    )
    expectConflicts(
      await company.send('sms', smsBody({ document_number: '99988877766' })),
      /^document number is on/,
    )
    expectConflicts(await company.send('sms', smsBody({ contract_code: ' bad ' })), /^contract code is on/)
    expectConflicts(
      await company.send('sms', smsBody({ recipient_number: phone, contract_code: 'BAD' })),
      /^phone number and contract code are on/,
    )
    expectAccepted(
      await company.send('sms', smsBody({ contract_code: '999.888.777-66', document_number: 'BAD' })),
    )
  })

  test('exact or prefix', async () => {
    const company = await d.newCompany()
    await addList(d.app, company.id, [
      { field: 'contract', value: 'EXACT' },
      { field: 'contract', value: 'PRE', isPrefix: true },
      { field: 'phone', value: '5521', isPrefix: true },
    ])
    expectAccepted(await company.send('sms', smsBody({ contract_code: 'EXACTLY' })))
    for (const code of ['PRE', 'pre-1', 'PREFIX'])
      expectConflicts(await company.send('sms', smsBody({ contract_code: code })), /contract code/)
    expectAccepted(await company.send('sms', smsBody({ contract_code: 'PR' })))
    expectConflicts(await company.send('sms', smsBody({ recipient_number: '5521987654321' })), /phone number/)
    expectAccepted(await company.send('sms', smsBody({ recipient_number: '5522987654321' })))
  })

  test('a Brazilian mobile with and without its ninth digit is one person here too', async () => {
    const company = await d.newCompany()
    await addList(d.app, company.id, [{ field: 'phone', value: '553188881234' }])
    for (const number of ['553188881234', '5531988881234'])
      expectConflicts(await company.send('sms', smsBody({ recipient_number: number })), /phone number/)
  })

  test('with expiry', async () => {
    const company = await d.newCompany()
    const now = d.app.clock.now().getTime()
    await addList(d.app, company.id, [
      { field: 'contract', value: 'OVER', expiresAt: new Date(now - hourMs) },
      { field: 'contract', value: 'STILL', expiresAt: new Date(now + hourMs) },
    ])
    expectAccepted(await company.send('sms', smsBody({ contract_code: 'OVER' })))
    expectConflicts(await company.send('sms', smsBody({ contract_code: 'STILL' })), /contract code/)
    const dry = await company.send('sms', smsBody({ contract_code: 'STILL' }), {
      headers: { 'Pombo-Dry-Run': 'true' },
    })
    expect(dry.body['verdict']).toContainEqual(
      expect.objectContaining({
        rule: 'restriction_list',
        passed: false,
        matched: 'contract still',
        nextAllowedAt: new Date(now + hourMs).toISOString(),
      }),
    )
  })

  test.for(channels)('covers every channel unless narrowed: %s', async (channel) => {
    const company = await d.newCompany()
    await addList(d.app, company.id, [{ field: 'contract', value: 'BAD' }])
    expectConflicts(await company.send(channel, bodies[channel]({ contract_code: 'BAD' })), /contract code/)
  })

  test('of one company: another company knows nothing of it', async () => {
    const [company, other] = [await d.newCompany(), await d.newCompany()]
    await addList(d.app, company.id, [{ field: 'contract', value: 'BAD' }])
    expectAccepted(await other.send('sms', smsBody({ contract_code: 'BAD' })))
  })

  test('an entry that is added or removed counts from the next request on', async () => {
    const company = await d.newCompany()
    const list = await addList(d.app, company.id, [])
    const body = () => smsBody({ contract_code: 'LATER' })
    expectAccepted(await company.send('sms', body()))
    await d.app.db.query(
      `insert into restriction_entry (list_id, field, value) values ($1, 'contract', 'later')`,
      [list.id],
    )
    expectConflicts(await company.send('sms', body()), /contract code/)
    await d.app.db.query('delete from restriction_entry where list_id = $1', [list.id])
    expectAccepted(await company.send('sms', body()))
  })
})

describe('each rule can be narrowed', () => {
  const bad = [{ field: 'contract' as const, value: 'BAD' }]

  test('to an API', async () => {
    const company = await d.newCompany()
    await addList(d.app, company.id, bad, { apis: ['unified'] })
    expectAccepted(await company.send('sms', smsBody({ contract_code: 'BAD' })))
  })

  test('to channels', async () => {
    const company = await d.newCompany()
    await addList(d.app, company.id, bad, { channels: ['email', 'whatsapp'] })
    expectAccepted(await company.send('sms', smsBody({ contract_code: 'BAD' })))
    expectConflicts(await company.send('email', emailBody({ contract_code: 'BAD' })), /contract code/)
  })

  test('to segments', async () => {
    const company = await d.newCompany()
    const [first, second] = company.segments
    await addList(d.app, company.id, bad, { segmentIds: [second.id] })
    expectAccepted(await company.send('sms', smsBody({ contract_code: 'BAD', segment: first.name })))
    expectAccepted(await company.send('sms', smsBody({ contract_code: 'BAD', segment: undefined })))
    expectConflicts(
      await company.send('sms', smsBody({ contract_code: 'BAD', segment: second.name })),
      /contract code/,
    )
  })

  test('and switched off', async () => {
    const company = await d.newCompany()
    await addList(d.app, company.id, bad, { isEnabled: false })
    expectAccepted(await company.send('sms', smsBody({ contract_code: 'BAD' })))
  })
})

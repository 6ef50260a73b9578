import { createHmac, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts'
import { makeCompany, randomMobile, testSealer, type TestCompany } from '../../../test/harness/factories.ts'
import { request, until } from '../../../test/harness/http.ts'
import { stateOf, storeMessage } from '../../../test/harness/messages.ts'
import { whatsappCloud } from '../../drivers/whatsapp-cloud/index.ts'
import { createReceiveHook } from '../../flows/receive-hook.ts'
import { createReportRecorder } from '../../flows/record-reports.ts'
import { systemClock } from '../../lib/clock.ts'
import { showId } from '../../lib/ids.ts'
import { silentLog } from '../../lib/log.ts'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { findContactByPhone } from '../../store/contacts.ts'
import { createDb, type Db } from '../../store/db.ts'
import { changeLineSettings } from '../../store/lines.ts'
import { serve, testServerDeps } from '../test-server.ts'
import { createHooksSurface } from './index.ts'

const secretNames = ['accessToken', 'appSecret', 'verifyToken']
const numberIds = ['100001', '100002', '100003']

let database: TestDatabase
let db: Db
let company: TestCompany
let sandbox: Sandbox
/** Of this test's own server. */
let base: string

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  company = await makeCompany(db)
  sandbox = await startSandbox({
    clock: systemClock,
    log: silentLog,
    graph: {
      phoneNumbers: numberIds.map((id, index) => ({ id, number: `+5531987650${index}02` })),
      webhookRetryMs: 20,
    },
  })
  for (const [index, line] of company.lines.whatsapp.entries())
    await changeLineSettings(db, testSealer, company.id, line.id, settingsFor(index), secretNames)
})
afterAll(async () => {
  await sandbox.stop()
  await database.drop()
})
beforeEach(async () => {
  base = await startServer(db)
})

const settingsFor = (index: number) => ({
  phoneNumberId: numberIds[index],
  baseUrl: sandbox.graph.baseUrl,
  accessToken: sandbox.graph.accessToken,
  appSecret: sandbox.graph.appSecret,
  verifyToken: sandbox.graph.verifyToken,
})

async function startServer(ofDb: Db): Promise<string> {
  const deps = testServerDeps()
  const recorder = createReportRecorder({ db: ofDb, clock: systemClock, log: silentLog })
  const receive = createReceiveHook({
    db: ofDb,
    sealer: testSealer,
    log: silentLog,
    recorder,
    findDriver: (name) => (name === whatsappCloud.name ? whatsappCloud : undefined),
    publicUrl: 'https://pombo.example',
  })
  const surface = createHooksSurface({ receive, budget: deps.budget })
  return (await serve({ main: [surface] }, deps)).addresses.main
}

const hookUrl = (index = 0) =>
  `${base}/hooks/whatsapp-cloud/${showId('lin', company.lines.whatsapp[index]!.id)}`

const sign = (body: string | Buffer, secret = sandbox.graph.appSecret) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})

const inboundBody = (number: string, text = 'Olá', phoneNumberId = numberIds[0]) =>
  JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '1',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { phone_number_id: phoneNumberId },
              messages: [
                {
                  from: number,
                  id: `wamid.${randomBytes(9).toString('base64')}`,
                  timestamp: String(Math.floor(Date.now() / 1000)),
                  type: 'text',
                  text: { body: text },
                },
              ],
            },
          },
        ],
      },
    ],
  })

const post = (body: string | Buffer, headers: Record<string, string>, url = hookUrl()) =>
  request(url, { body, headers })

describe('with the sandbox as the provider', () => {
  it('answers its challenge, and takes what a person writes: the window is open', async () => {
    sandbox.configure({
      phoneNumbers: [{ id: numberIds[0]!, number: '+5531987650002', webhookUrl: hookUrl() }],
    })
    const challenge = await request(
      `${hookUrl()}?hub.mode=subscribe&hub.challenge=12345&hub.verify_token=${sandbox.graph.verifyToken}`,
    )
    expect(challenge).toMatchObject({ status: 200, text: '12345' })
    const person = randomMobile()
    expect(
      sandbox.person.write({
        channel: 'whatsapp',
        from: `+${person}`,
        to: numberIds[0]!,
        text: 'Olá, é São João 🎉',
      }).ok,
    ).toBe(true)
    const contact = await until('the contact', () => findContactByPhone(db, company.id, person))
    const rows = await db.query<{ text: string; hasWindow: boolean }>(
      `select m.text, exists (select 1 from contact_window w where w.contact_id = m.contact_id and w.line_id = m.line_id) as "hasWindow"
         from inbound_message m where contact_id = $1`,
      [contact.id],
    )
    expect(rows).toEqual([{ text: 'Olá, é São João 🎉', hasWindow: true }])
  })

  it('takes signed receipts: a message whose outcome was unknown ends delivered by our own id', async () => {
    sandbox.configure({
      phoneNumbers: [{ id: numberIds[0]!, number: '+5531987650002', webhookUrl: hookUrl() }],
    })
    const message = await storeMessage(db, company, { channel: 'whatsapp', state: 'unknown' })
    sandbox.openWindow(numberIds[0]!, message.recipient)
    const sent = await request(`${sandbox.graph.baseUrl}/${numberIds[0]}/messages`, {
      headers: { authorization: `Bearer ${sandbox.graph.accessToken}` },
      body: {
        messaging_product: 'whatsapp',
        to: message.recipient,
        type: 'text',
        text: { body: 'Hello' },
        biz_opaque_callback_data: showId('msg', message.id),
      },
    })
    expect(sent.text).toContain('wamid')
    await until('the receipt', async () => (await stateOf(db, message.id)) === 'delivered')
  })

  it('gives reports for another number of the account to the line of that number', async () => {
    const person = randomMobile()
    const body = inboundBody(person, 'to the second line', numberIds[1])
    expect((await post(body, sign(body))).status).toBe(200)
    expect(
      await db.query('select line_id from inbound_message where company_id = $1 and sender = $2', [
        company.id,
        person,
      ]),
    ).toEqual([{ line_id: company.lines.whatsapp[1]!.id }])
    const nobody = inboundBody(person, 'to nobody', '999')
    expect((await post(nobody, sign(nobody))).status).toBe(200)
  })
})

describe('what is not genuine', () => {
  const stored = async (person: string) =>
    (await db.query('select 1 from inbound_message where sender = $1', [person])).length

  it('is refused without effect: no signature, a wrong one, a body that was changed', async () => {
    const person = randomMobile()
    const body = inboundBody(person)
    const changed = Buffer.from(body.replace('Olá', 'Ole'))
    const answers = [
      await post(body, {}),
      await post(body, sign(body, 'another secret')),
      await post(changed, sign(body)),
      await post(body, { 'x-hub-signature-256': 'sha256=zz' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    expect(await stored(person)).toBe(0)
    const [challenge] = [await request(`${hookUrl()}?hub.mode=subscribe&hub.challenge=1&hub.verify_token=no`)]
    expect(challenge.status).toBe(403)
    expect(challenge.text).not.toContain('secret')
  })

  it('when repeated as it was has no second effect', async () => {
    const person = randomMobile()
    const body = inboundBody(person)
    for (let time = 0; time < 3; time++) expect((await post(body, sign(body))).status).toBe(200)
    expect(await stored(person)).toBe(1)
  })

  it('is refused when it is too large, compressed, or signed but not JSON', async () => {
    const large = Buffer.alloc(5 * 1024 * 1024, 0x20)
    expect((await post(large, sign(large))).status).toBe(413)
    const body = inboundBody(randomMobile())
    expect((await post(body, { ...sign(body), 'content-encoding': 'gzip' })).status).toBe(415)
    expect((await post('not JSON', sign('not JSON'))).status).toBe(400)
  })

  it('takes three megabytes, which the provider may send', async () => {
    const person = randomMobile()
    const body = inboundBody(person, 'x'.repeat(3_000_000))
    expect((await post(body, sign(body))).status).toBe(200)
    expect(await stored(person)).toBe(1)
  })

  it('finds nothing at an unknown line, an unknown driver, or a line of another driver', async () => {
    const body = inboundBody(randomMobile())
    const line = showId('lin', company.lines.whatsapp[0]!.id)
    const urls = [
      `${base}/hooks/whatsapp-cloud/lin_${'0'.repeat(32)}`,
      `${base}/hooks/whatsapp-cloud/nonsense`,
      `${base}/hooks/telepathy/${line}`,
      `${base}/hooks/whatsapp-cloud/${showId('lin', company.lines.sms[0]!.id)}`,
    ]
    for (const url of urls) expect((await post(body, sign(body), url)).status).toBe(404)
    expect((await request(hookUrl(), { method: 'DELETE' })).status).toBe(404)
  })
})

describe('a line', () => {
  it('whose secret was changed a moment ago believes the new one only', async () => {
    const body = inboundBody(randomMobile(), 'Hi', numberIds[2])
    expect((await post(body, sign(body), hookUrl(2))).status).toBe(200)
    const line = company.lines.whatsapp[2]!
    const settings = { ...settingsFor(2), appSecret: 'new secret' }
    await changeLineSettings(db, testSealer, company.id, line.id, settings, secretNames)
    expect((await post(body, sign(body), hookUrl(2))).status).toBe(401)
    expect((await post(body, sign(body, 'new secret'), hookUrl(2))).status).toBe(200)
  })

  it('answers "try again" while the database is away', async () => {
    const away = createDb({ url: 'postgres://127.0.0.1:9/none', connections: 1, log: silentLog })
    base = await startServer(away)
    const body = inboundBody(randomMobile())
    const answer = await post(body, sign(body))
    expect(answer.status).toBe(503)
    expect(answer.headers['retry-after']).toBeDefined()
    await away.close()
  })

  // One by one they would take eleven round trips each.
  it('takes many calls in few transactions', async () => {
    const bodies = Array.from({ length: 100 }, () => inboundBody(randomMobile()))
    const before = db.roundTrips
    const answers = await Promise.all(bodies.map((body) => post(body, sign(body))))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(db.roundTrips - before).toBeLessThan(400)
  })
})

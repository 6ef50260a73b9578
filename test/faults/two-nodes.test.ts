/** Two nodes on one PostgreSQL, each by a way of its own: cut off, restarted in turn, and asked for too much. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { makeCompany, randomMobile, type TestCompany } from '../harness/factories.ts'
import { request, until, type Answer } from '../harness/http.ts'
import { startPgProxy, type PgProxy } from '../harness/pg-proxy.ts'
import { freePort, startProgram, type Program, type ProgramOptions } from '../harness/program.ts'
import { startLoad } from '../soak/load.ts'
import { createRandom } from '../soak/random.ts'

type Node = { program: Program; proxy: PgProxy; options: ProgramOptions }

const budgetMib = 8
let database: TestDatabase
let company: TestCompany
let accessToken: string
let one: Node
let two: Node

async function startNode(): Promise<Node> {
  const proxy = await startPgProxy(database.url)
  const options = {
    port: await freePort(),
    env: {
      DATABASE_URL: proxy.url,
      POMBO_DEMO: 'false',
      POMBO_SEALING_KEY: '5'.repeat(64),
      POMBO_SERVING_PROCESSES: '1',
      POMBO_LOG_LEVEL: 'silent',
      POMBO_DRAIN_SECONDS: '10',
      POMBO_LEAVE_SECONDS: '2',
      POMBO_ACCEPT_QUEUE: '64',
      POMBO_MAX_BODIES_IN_FLIGHT_MIB: String(budgetMib),
    },
  }
  return { program: await startProgram(options), proxy, options }
}

beforeAll(async () => {
  database = await createTestDatabase()
  ;[one, two] = await Promise.all([startNode(), startNode()])
  company = await makeCompany(database.db)
  const { name, password } = company.apiUser
  const body = { Company: company.name, Username: name, Password: password }
  const login = await request(`${one.program.baseUrl}/v1/login`, { body })
  accessToken = String(login.body['access_token'])
})

afterAll(async () => {
  for (const node of [one, two]) {
    node?.proxy.comeBack()
    node?.proxy.resume()
    await node?.program.stop()
    await node?.proxy.close()
  }
  await database?.drop()
})

const sendUnified = (node: Node, extra: object = {}): Promise<Answer> =>
  request(`${node.program.baseUrl}/v1/sendmessage`, {
    headers: { authorization: `Bearer ${accessToken}` },
    timeoutMs: 60_000,
    body: {
      platformPrivateToken: company.privateToken,
      channel: 2,
      text: 'Hello',
      destination: { countryCode: 55, phoneNumber: Number(randomMobile().slice(2)) },
      ...extra,
    },
  })

const sendDirect = (node: Node): Promise<Answer> =>
  request(`${node.program.baseUrl}/v1/directmessage/sms`, {
    headers: { authorization: `Bearer ${company.directToken.token}` },
    timeoutMs: 60_000,
    body: {
      recipient_number: randomMobile(),
      template_code: 'appointment-reminder',
      variable_values: { Date: '1 May', Time: '10:00' },
      contract_code: 'C-1',
    },
  })

const readiness = (node: Node) => request(`${node.program.baseUrl}/health/ready`, { timeoutMs: 20_000 })
const isReady = async (node: Node) => (await readiness(node)).status === 200

const expectTurnedAway = (answer: Answer) => {
  expect(answer.status, answer.text).toBe(503)
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
}

async function countMessages(): Promise<number> {
  const [row] = await database.db.query<{ count: number }>('select count(*)::int as count from message')
  return row!.count
}

const ways: [string, (proxy: PgProxy) => void, (proxy: PgProxy) => void][] = [
  ['cut off from the database', (proxy) => proxy.goAway(), (proxy) => proxy.comeBack()],
  ['whose words to the database are swallowed', (proxy) => proxy.pause(), (proxy) => proxy.resume()],
]

test.for(ways)(
  'a node %s answers 503 and is not ready; the other serves; it recovers by itself',
  async ([, cut, mend]) => {
    const before = await countMessages()
    cut(one.proxy)
    try {
      const answers = Promise.all([sendUnified(one), sendDirect(one)])
      const told = await until('it says so', async () => {
        const answer = await readiness(one)
        return answer.status === 503 && answer
      })
      expect(told.body['reason']).toMatch(/database|did not answer in time/)
      expect((await request(`${one.program.baseUrl}/health/live`)).status).toBe(200)
      expect((await sendUnified(two)).status).toBe(200)
      expect((await sendDirect(two)).status).toBe(202)
      expect(await isReady(two)).toBe(true)
      for (const answer of await answers) expectTurnedAway(answer)
    } finally {
      mend(one.proxy)
    }
    await until('ready again', () => isReady(one), 30_000)
    expect((await sendUnified(one)).status).toBe(200)
    expect((await sendDirect(one)).status).toBe(202)
    // Those that were told no are not there after all.
    expect(await countMessages()).toBe(before + 4)
  },
)

test('restarted one after the other under load, behind a balancer: no request fails', async () => {
  const load = startLoad({
    nodes: { one: one.program.baseUrl, two: two.program.baseUrl },
    ratePerSecond: 40,
    random: createRandom(1),
    accessToken,
    privateToken: company.privateToken,
    directToken: company.directToken.token,
    linePhones: [31_987_650_001],
    callbackUrl: 'https://example.com/callbacks',
  })
  load.isBalanced = true
  for (const [name, node] of [
    ['one', one],
    ['two', two],
  ] as const) {
    const { accepted } = load
    await until('requests pass', () => load.accepted > accepted + 20)
    expect(await node.program.stop()).toBe(0)
    node.program = await startProgram(node.options)
    const before = load.acceptedBy[name]!
    await until('it has its share again', () => load.acceptedBy[name]! > before)
  }
  await load.stop()
  expect(load.falseAnswers).toEqual([])
  expect(load.asked.length).toBeGreaterThan(100)
  const failed = load.asked.filter((asked) => asked.ids.length !== 1 || asked.refused + asked.unanswered > 0)
  expect(failed).toEqual([])
  const rows = await database.db.query<{ id: string }>('select id from message')
  const stored = new Set(rows.map(({ id }) => `msg_${id.replaceAll('-', '')}`))
  expect(load.asked.filter((asked) => !stored.has(asked.ids[0]!))).toEqual([])
})

/** The most memory that the serving process has ever had, in MiB. */
async function peakMib({ program }: Node): Promise<number> {
  const { serving } = await program.pids()
  const status = readFileSync(`/proc/${serving[0]}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) / 1024
}

test('many times what it can take: what is not taken hears 503 with Retry-After, what is taken is there, memory keeps to its bound', async () => {
  const expectAllSaid = async (answers: Answer[], before: number) => {
    const taken = answers.filter((answer) => answer.status === 200).length
    for (const answer of answers) if (answer.status !== 200) expectTurnedAway(answer)
    expect(taken).toBeGreaterThan(0)
    expect(taken).toBeLessThan(answers.length)
    expect(await countMessages()).toBe(before + taken)
  }
  const many = await countMessages()
  await expectAllSaid(await Promise.all(Array.from({ length: 1_500 }, () => sendUnified(two))), many)

  // Up to 200 MiB of attachments at once, for a process that may hold 8 MiB of bodies.
  const base64 = Buffer.alloc(768 * 1024, 'x').toString('base64')
  const email = {
    channel: 1,
    emailSubject: 'Large',
    destination: { email: 'ana@example.com' },
    files: [{ name: 'large.txt', base64 }],
  }
  expect((await sendUnified(two, email)).status).toBe(200)
  const peaks: number[] = []
  for (const count of [50, 200, 200]) {
    const before = await countMessages()
    const answers = await Promise.all(Array.from({ length: count }, () => sendUnified(two, email)))
    await expectAllSaid(answers, before)
    peaks.push(await peakMib(two))
  }
  // Measured: 314, 364, 366 MiB. Without a bound the 200 MiB of the second wave would be held several times over.
  expect(peaks[1]! - peaks[0]!).toBeLessThan(150)
  expect(peaks[2]! - peaks[1]!).toBeLessThan(50)
  expect((await sendUnified(two)).status).toBe(200)
  expect(await isReady(two)).toBe(true)
})

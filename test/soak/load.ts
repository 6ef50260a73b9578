/** A steady load over both APIs and all nodes that forgets no answer. Nothing piles up: past a bound nothing is sent. */
import { setTimeout as wait } from 'node:timers/promises'
import { request, type Answer } from '../harness/http.ts'
import { isReadyAt } from '../harness/program.ts'
import { markOf, type Asked } from './ledger.ts'
import type { Random } from './random.ts'

export type LoadOptions = {
  /** By name; a node that is started again keeps its address. */
  nodes: Record<string, string>
  ratePerSecond: number
  random: Random
  accessToken: string
  privateToken: string
  directToken: string
  /** Numbers of the lines that may be named. */
  linePhones: number[]
  callbackUrl: string
}

export type Load = {
  asked: Asked[]
  /** Answers that may not be: neither success nor 503, or 503 without Retry-After. */
  falseAnswers: string[]
  accepted: number
  /** Accepted and cut off, by node. */
  acceptedBy: Record<string, number>
  cutBy: Record<string, number>
  /**
   * Behind a balancer: requests go only to nodes that say they are ready, asked five times a second. Without, every node
   * is asked all the time, since those that cannot serve must say so.
   */
  isBalanced: boolean
  /** How the first requests that got no answer ended. */
  cuts: string[]
  /** What the most patient caller had to wait for an answer. */
  longestMs: number
  /** So many more at once, on top of the steady ones; resolves with the statuses when all have ended. */
  burst(count: number): Promise<Record<string, number>>
  stop(): Promise<void>
  /** Sends nothing more, and waits for nothing. */
  abandon(): void
}

/** Longer than any answer should take. */
const answerMs = 60_000
const maxInFlight = 500
/** A keyed request is sent again for so long after the load has ended. */
const lastTriesMs = 60_000

type Result = 'accepted' | 'refused' | 'unanswered' | 'not sent' | 'false'

export function startLoad(options: LoadOptions): Load {
  const { random } = options
  const names = Object.keys(options.nodes)
  const asked: Asked[] = []
  const falseAnswers: string[] = []
  const ready = new Set<string>()
  const under = new Set<Promise<unknown>>()
  let endsAt: number | undefined

  const load: Load = {
    asked,
    falseAnswers,
    accepted: 0,
    longestMs: 0,
    cuts: [],
    isBalanced: false,
    acceptedBy: Object.fromEntries(names.map((name) => [name, 0])),
    cutBy: Object.fromEntries(names.map((name) => [name, 0])),
    async burst(count) {
      const counts: Record<string, number> = {}
      const all = Array.from({ length: count }, async () => {
        const result = await askOnce(newAsked(false), choose())
        counts[result] = (counts[result] ?? 0) + 1
      })
      await Promise.all(all)
      return counts
    },
    async stop() {
      endsAt = performance.now() + lastTriesMs
      clearInterval(timer)
      await Promise.all(under)
      clearInterval(probe)
    },
    abandon() {
      endsAt = 0
      clearInterval(timer)
      clearInterval(probe)
    },
  }

  const choose = (): string | undefined =>
    random.pick(load.isBalanced ? names.filter((name) => ready.has(name)) : names)

  function newAsked(isKeyed: boolean): Asked {
    const one: Asked = { mark: markOf(asked.length), isKeyed, ids: [], unanswered: 0, refused: 0 }
    asked.push(one)
    return one
  }

  /** One HTTP request. The same mark always makes the same request, or a key would be refused. */
  async function askOnce(one: Asked, node: string | undefined): Promise<Result> {
    if (node === undefined) return 'not sent'
    const number = Number(one.mark.slice(1, -1))
    const isDirect = number % 3 === 0
    const key: Record<string, string> = one.isKeyed ? { 'idempotency-key': one.mark } : {}
    const base = options.nodes[node]!
    const askedAt = performance.now()
    let answer: Answer
    try {
      answer = isDirect
        ? await request(`${base}/v1/directmessage/sms`, {
            body: directBody(options, one.mark, number),
            headers: { authorization: `Bearer ${options.directToken}`, ...key },
            timeoutMs: answerMs,
          })
        : await request(`${base}/v1/sendmessage`, {
            body: unifiedBody(options, one.mark, number),
            headers: { authorization: `Bearer ${options.accessToken}`, ...key },
            timeoutMs: answerMs,
          })
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return 'not sent'
      one.unanswered++
      if (load.cuts.length < 20) load.cuts.push(`${one.mark} at ${node}: ${String(error)}`)
      load.cutBy[node]!++
      return 'unanswered'
    }
    load.longestMs = Math.max(load.longestMs, performance.now() - askedAt)
    const id = isDirect ? answer.headers['pombo-message-id'] : answer.body['messageId']
    if (answer.status === (isDirect ? 202 : 200) && typeof id === 'string') {
      one.ids.push(id)
      load.accepted++
      load.acceptedBy[node]!++
      return 'accepted'
    }
    if (answer.status === 503 && Number(answer.headers['retry-after']) > 0) {
      one.refused++
      return 'refused'
    }
    falseAnswers.push(`${one.mark} at ${node}: ${answer.status} ${answer.text.slice(0, 200)}`)
    return 'false'
  }

  async function ask(isKeyed: boolean): Promise<void> {
    const one = newAsked(isKeyed)
    for (;;) {
      const result = await askOnce(one, choose())
      // Nothing has left: a balancer takes the next node.
      const isFree = result === 'not sent' && load.isBalanced
      if (result === 'accepted' || result === 'false' || !(isKeyed || isFree)) return
      if (endsAt !== undefined && performance.now() > endsAt) return
      await wait(200 + random.next() * 500)
    }
  }

  const probe = setInterval(() => {
    if (!load.isBalanced) return
    for (const name of names)
      void isReadyAt(options.nodes[name]!).then((isReady) => (isReady ? ready.add(name) : ready.delete(name)))
  }, 200)
  const timer = setInterval(() => {
    if (under.size >= maxInFlight) return
    const asking: Promise<void> = ask(random.next() < 0.5).finally(() => under.delete(asking))
    under.add(asking)
  }, 1000 / options.ratePerSecond)
  return load
}

const phoneOf = (number: number) => 31_980_000_000 + (number % 2_000)

const unifiedBody = (options: LoadOptions, mark: string, number: number) => ({
  platformPrivateToken: options.privateToken,
  channel: 2,
  text: `Soak ${mark}`,
  source: { countryCode: 55, phoneNumber: options.linePhones[number % options.linePhones.length] },
  destination: { countryCode: 55, phoneNumber: phoneOf(number) },
})

const directBody = (options: LoadOptions, mark: string, number: number) => ({
  recipient_number: `55${phoneOf(number)}`,
  template_code: 'appointment-reminder',
  variable_values: { Date: mark, Time: '10:30' },
  contract_code: 'C-1',
  callback_details: { url: `${options.callbackUrl}/${number % 7}` },
})

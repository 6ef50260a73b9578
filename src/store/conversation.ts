/** One connection: gathers what is asked in the same breath into one trip, and knows since when an answer is owed. */
import { createRequire } from 'node:module'
import type pg from 'pg'
import { RoundTrip, type Asked, type ParserOf, type Row, type Shapes, type Statement } from './round-trip.ts'

/** How the driver writes a value that is bound to a statement; it has no types for this. */
const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  prepareValue(value: unknown): unknown
}

export type Conversation = {
  ask(statement: Statement | string, values?: readonly unknown[]): Promise<Row[]>
  /** Undefined: the server owes no answer. */
  waitingSinceMs(): number | undefined
}

export function createConversation(
  client: pg.PoolClient,
  parserOf: ParserOf,
  onTrip: () => void,
): Conversation {
  const shapes: Shapes = new Map()
  const texts = new Map<string, string>()
  let gathered: Asked[] = []
  let unanswered = 0
  let lastWordMs = 0

  const sent = () => {
    onTrip()
    if (unanswered++ === 0) lastWordMs = performance.now()
  }
  const answered = () => {
    unanswered--
    lastWordMs = performance.now()
  }

  function send() {
    if (gathered.length === 0) return
    const trip = new RoundTrip(gathered, shapes, parserOf, answered)
    gathered = []
    sent()
    client.query(trip)
  }

  /** Without values it may be several statements, which only the simple protocol takes. */
  async function askSimply(text: string): Promise<Row[]> {
    send()
    sent()
    try {
      const { rows } = await client.query<Row>(text)
      return rows
    } finally {
      answered()
    }
  }

  return {
    ask(statement, values) {
      if (typeof statement === 'string' && values === undefined) return askSimply(statement)
      const prepared = typeof statement === 'string' ? { name: '', text: statement } : statement
      return new Promise((resolve, reject) => {
        const { name, text } = prepared
        if (name !== '' && (texts.get(name) ?? text) !== text)
          throw new Error(`Two statements have the name ${name}.`)
        texts.set(name, text)
        const written = (values ?? []).map(prepareValue)
        if (gathered.length === 0) queueMicrotask(send)
        gathered.push({ statement: prepared, values: written, resolve, reject })
      })
    },
    waitingSinceMs: () => (unanswered > 0 ? lastWordMs : undefined),
  }
}

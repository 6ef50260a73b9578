/** The connection to PostgreSQL: a bounded pool, prepared statements by name, transactions. */
import pg from 'pg'
import type { Log } from '../lib/log.ts'
import { watchAnswers } from './answer-watch.ts'
import { createConversation, type Conversation } from './conversation.ts'
import type { Row, Statement } from './round-trip.ts'

export type { Row, Statement } from './round-trip.ts'

export type Queryable = {
  /** On a connection: what is asked in the same breath travels together, and succeeds or fails together. */
  query<T = Row>(statement: Statement | string, values?: readonly unknown[]): Promise<T[]>
}

export type Connection = Queryable & {
  /** Gives the connection back, or ends it when it is broken or its state is not known. */
  release(isBroken?: boolean): void
}

export type Db = Queryable & {
  /** `isPatient`: its statements may take as long as they need, for work that nobody waits for (migrations). */
  connect(options?: { isPatient?: boolean }): Promise<Connection>
  transaction<T>(work: (connection: Queryable) => Promise<T>): Promise<T>
  /** Since the start: tests compare round trips, not times. */
  readonly roundTrips: number
  readonly url: string
  close(): Promise<void>
}

const parsers: Record<number, (text: string) => unknown> = {
  // int8: counts and phone numbers, all below 2^53.
  20: Number,
  1184: readInstant,
}
const driversParserOf = (oid: number) => pg.types.getTypeParser(oid) as (text: string) => unknown

/** timestamptz: years of four digits the engine reads in half the time; the driver knows infinity and Caesar. */
function readInstant(text: string): unknown {
  const at = new Date(text[4] === '-' && text[0] !== '0' ? text : NaN)
  return Number.isNaN(at.getTime()) ? driversParserOf(1184)(text) : at
}

const parserOf = (oid: number) => parsers[oid] ?? driversParserOf(oid)
const types = { getTypeParser: parserOf }

/** The ends of a transaction, named so that they travel with what they enclose. */
export const begin: Statement = { name: 'begin', text: 'begin' }
export const commit: Statement = { name: 'commit', text: 'commit' }

export type DbOptions = {
  url: string
  connections: number
  log: Log
  applicationName?: string
  statementTimeoutMs?: number
  /** Longer than the former: a server that vanished without a word must not hold a caller for ever. */
  answerTimeoutMs?: number
  connectTimeoutMs?: number
  /**
   * Every statement finds few rows by key. A plan that was made while a queue was empty reads all of it, and is kept
   * until the next ANALYZE: settling 32 of 100,000 took 46 ms instead of 3.
   */
  isForLookups?: boolean
}

/** Nested loops over indexes, whatever the statistics say. */
const lookupsOnly = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'

export function createDb(options: DbOptions): Db {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connections,
    types,
    application_name: options.applicationName ?? 'pombo',
    ...(options.isForLookups && { options: lookupsOnly }),
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
  })
  let roundTrips = 0
  const conversations = new Map<pg.PoolClient, Conversation>()
  pool.on('connect', (client) => {
    conversations.set(
      client,
      createConversation(client, parserOf, () => roundTrips++),
    )
    // The pool listens only while a connection is idle. What is wrong with one in use its query tells; a server that is
    // stopping may also say farewell right behind its greeting, before anybody has asked anything.
    client.on('error', () => {})
  })
  pool.on('remove', (client) => conversations.delete(client))
  // An idle connection that breaks is replaced on the next use; unhandled, this event would end the process.
  pool.on('error', (error) => options.log.warn({ err: error }, 'database connection lost while idle'))
  const patient = new WeakSet<pg.PoolClient>()
  const stopWatching = watchAnswers(
    conversations,
    (client) => patient.has(client),
    options.answerTimeoutMs ?? statementTimeoutMs + 5_000,
  )

  const run = async <T>(
    client: pg.PoolClient,
    statement: Statement | string,
    values?: readonly unknown[],
  ): Promise<T[]> => {
    try {
      return (await conversations.get(client)!.ask(statement, values)) as T[]
    } catch (error) {
      // The driver's own stack leads to the socket; this one leads to who asked.
      if (error instanceof Error) Error.captureStackTrace(error)
      throw error
    }
  }

  const runOnAny = async <T>(statement: Statement | string, values?: readonly unknown[]): Promise<T[]> => {
    const client = await pool.connect()
    let isBroken = true
    try {
      const rows = await run<T>(client, statement, values)
      isBroken = false
      return rows
    } catch (error) {
      isBroken = isConnectionError(error)
      throw error
    } finally {
      client.release(isBroken)
    }
  }

  const connect = async ({ isPatient = false } = {}): Promise<Connection> => {
    const client = await pool.connect()
    if (isPatient) {
      await client.query('set statement_timeout = 0')
      patient.add(client)
    }
    return {
      query: (statement, values) => run(client, statement, values),
      release(isBroken = false) {
        // The next user of the pool expects a connection with limits.
        client.release(isBroken || isPatient)
      },
    }
  }

  return {
    url: options.url,
    get roundTrips() {
      return roundTrips
    },
    query: runOnAny,
    connect,
    async transaction(work) {
      const connection = await connect()
      let isBroken = true
      try {
        const begun = connection.query(begin)
        const [result] = await Promise.all([work(connection), begun])
        await connection.query(commit)
        isBroken = false
        return result
      } catch (error) {
        if (!isConnectionError(error))
          isBroken = await connection.query('rollback').then(
            () => false,
            () => true,
          )
        throw error
      } finally {
        connection.release(isBroken)
      }
    },
    close() {
      stopWatching()
      return pool.end()
    },
  }
}

/** No class of PostgreSQL begins with E, but the code of a broken pipe looks like one: EPIPE. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(error.code)
    ? error.code
    : undefined

/** How `pg` says that there is no connection; the operating system's own faults have a code. */
const driverWords =
  /^(Connection terminated|Client (has encountered a connection error|was closed)|Cannot use a pool after|Query read timeout|timeout (exceeded|expired)|Received unexpected|The server does not support SSL|There was an error establishing)/

/**
 * True when the database did not answer: nothing is known about what it did. An SQLSTATE means that it spoke,
 * except for those it says when it is going away (57P0x, 08xxx) or has no room for us (53300).
 */
export function isConnectionError(error: unknown): boolean {
  const state = sqlState(error)
  if (state === undefined) {
    if (!(error instanceof Error)) return false
    const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
    return /^E[A-Z_]+$/.test(code) || driverWords.test(error.message)
  }
  return state.startsWith('08') || state.startsWith('57P') || state === '53300'
}

/** The data itself was refused (class 22 and 23): running it again as it is cannot help. */
export const isDataError = (error: unknown): boolean => /^2[23]/.test(sqlState(error) ?? '')

/** Deadlock or serialization failure, or a lock not had in time: running it again may help. */
export const isConflictError = (error: unknown): boolean => /^(40|55P03)/.test(sqlState(error) ?? '')

/** A name or address that must be unique is taken. */
export const isUniqueViolation = (error: unknown): boolean => sqlState(error) === '23505'

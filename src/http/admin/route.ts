/**
 * A route of the admin API as data: path, schemas, handler. Reading and changing are two kinds: a change runs in one
 * transaction together with its entry in the audit log, so that neither is there without the other.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import { parseId, type IdPrefix } from '../../lib/ids.ts'
import { compileReader, type FieldErrors } from '../../lib/read-json.ts'
import { recordAudit } from '../../store/audit.ts'
import type { Queryable } from '../../store/db.ts'
import { parseJson } from '../parse-json.ts'
import { takeBody } from '../read-body.ts'
import { actorOf, type Caller } from './caller.ts'
import type { AdminDeps } from './deps.ts'
import {
  invalid,
  invalidFields,
  notFound,
  type Changed,
  type Done,
  type Refused,
  type Reply,
  type Trace,
} from './replies.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** No fields; whatever is sent is not looked at. */
type Empty = TObject

export type Call<Q extends TObject, B extends TObject> = {
  deps: AdminDeps
  /** Of a change: its transaction. */
  db: Queryable
  caller: Caller
  companyId: string
  actor: string
  now: Date
  /** UUIDs of the path's ids, in order; an id of another kind was 404 already. */
  ids: string[]
  query: Static<Q>
  body: Static<B>
  /** The JSON as it came, for parts that no schema of ours describes (a driver's settings). */
  json: Record<string, unknown>
  /** `bytes` and `stream` routes. */
  request: FastifyRequest
  reply: FastifyReply
  /** The version that the caller saw, if they say. */
  ifMatch: string | undefined
}

type Shape<Q extends TObject, B extends TObject> = {
  method: Method
  /** Below `/admin/v1`; `:id` and `:id2` are ids with the prefixes in `ids`. */
  path: string
  summary: string
  description?: string
  ids?: readonly IdPrefix[]
  query?: Q
  body?: B
  /** What the body is; JSON unless told otherwise. */
  bodyKind?: 'json' | 'bytes' | 'stream'
  answer?: TSchema
  status?: 200 | 201 | 202 | 204
}

export type ReadRoute<Q extends TObject, B extends TObject> = Shape<Q, B> & {
  handle(call: Call<Q, B>): Promise<Reply>
}

export type ChangeRoute<Q extends TObject, B extends TObject> = Shape<Q, B> & {
  noun: string
  action: string
  handle(call: Call<Q, B>): Promise<Changed>
}

export type Route = Shape<TObject, TObject> & {
  /** What the audit log says; undefined: nothing is changed. */
  audit: { noun: string; action: string } | undefined
  run(deps: AdminDeps, caller: Caller, request: FastifyRequest, reply: FastifyReply): Promise<Reply>
}

/** Nothing is changed; a body, where there is one, is only looked at. */
export function read<Q extends TObject = Empty, B extends TObject = Empty>(route: ReadRoute<Q, B>): Route {
  const readCall = callReader(route)
  return {
    ...route,
    audit: undefined,
    async run(deps, caller, request, reply) {
      const call = readCall(deps, caller, request, reply)
      return 'kind' in call ? call : await route.handle({ ...call, db: deps.db })
    },
  }
}

/** One transaction for the change and its trace; a refusal rolls back. */
export function change<Q extends TObject = Empty, B extends TObject = Empty>(
  route: ChangeRoute<Q, B>,
): Route {
  const readCall = callReader(route)
  const { noun, action } = route
  return {
    ...route,
    audit: { noun, action },
    async run(deps, caller, request, reply) {
      const call = readCall(deps, caller, request, reply)
      if ('kind' in call) return call
      let afterCommit: (() => void) | undefined
      const answer = await inTransaction(deps, async (transaction) => {
        const result = await route.handle({ ...call, db: transaction })
        if (result.kind === 'refused') return result
        await trace(transaction, call, { noun, action }, result.trace)
        afterCommit = result.afterCommit
        return result
      })
      afterCommit?.()
      return withStatus(answer, route.status)
    },
  }
}

/** For what has transactions of its own (accepting a message, storing an upload): the trace follows at once. */
export function act<Q extends TObject = Empty, B extends TObject = Empty>(route: ChangeRoute<Q, B>): Route {
  const readCall = callReader(route)
  const { noun, action } = route
  return {
    ...route,
    audit: { noun, action },
    async run(deps, caller, request, reply) {
      const call = readCall(deps, caller, request, reply)
      if ('kind' in call) return call
      const result = await route.handle({ ...call, db: deps.db })
      if (result.kind === 'done') {
        await trace(deps.db, call, { noun, action }, result.trace)
        result.afterCommit?.()
      }
      return withStatus(result, route.status)
    },
  }
}

const withStatus = (reply: Changed | Done, status: Done['status']): Done | Refused =>
  reply.kind === 'refused' ? reply : { ...reply, status: reply.status ?? status }

const trace = (
  db: Queryable,
  { companyId, actor }: { companyId: string; actor: string },
  audit: { noun: string; action: string },
  { nounId, detail, action }: Trace,
): Promise<void> =>
  recordAudit(db, { companyId, actor, noun: audit.noun, action: action ?? audit.action, nounId, detail })

/** Carries a refusal out of a transaction that must not be committed. */
class Rollback extends Error {
  readonly reply: Refused

  constructor(reply: Refused) {
    super(reply.message)
    this.reply = reply
  }
}

async function inTransaction(
  { db }: AdminDeps,
  work: (transaction: Queryable) => Promise<Changed>,
): Promise<Changed> {
  try {
    return await db.transaction(async (transaction) => {
      const result = await work(transaction)
      if (result.kind === 'refused') throw new Rollback(result)
      return result
    })
  } catch (error) {
    if (error instanceof Rollback) return error.reply
    throw error
  }
}

function callReader<Q extends TObject, B extends TObject>(route: Shape<Q, B>) {
  const readQuery = route.query && compileReader(route.query)
  const readBody = route.body && compileReader(route.body)
  const numbers = numericFields(route.query)
  return (
    deps: AdminDeps,
    caller: Caller,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Omit<Call<Q, B>, 'db'> | Refused => {
    const params = Object.values(request.params as Record<string, string>)
    const ids: string[] = []
    for (const [index, prefix] of (route.ids ?? []).entries()) {
      const id = parseId(prefix, params[index] ?? '')
      if (id === undefined) return notFound
      ids.push(id)
    }
    const query = readQuery?.(typedQuery(request.query as Record<string, unknown>, numbers))
    const parsed = readBody ? jsonOf(request) : { ok: true as const, json: {} }
    if (!parsed.ok) return parsed.refused
    const { json } = parsed
    const body = readBody?.(json)
    const errors: FieldErrors = {
      ...(query && !query.ok && query.errors),
      ...(body && !body.ok && body.errors),
    }
    if (Object.keys(errors).length > 0) return invalidFields(errors)
    return {
      deps,
      caller,
      companyId: caller.companyId,
      actor: actorOf(caller),
      now: deps.clock.now(),
      ids,
      query: (query?.ok ? query.value : {}) as Static<Q>,
      body: (body?.ok ? body.value : {}) as Static<B>,
      json,
      request,
      reply,
      ifMatch: readIfMatch(request.headers['if-match']),
    }
  }
}

type ParsedBody = { ok: true; json: Record<string, unknown> } | { ok: false; refused: Refused }

/** No body is an empty object: what is missing then is said field by field. */
function jsonOf(request: FastifyRequest): ParsedBody {
  const wrong = (message: string): ParsedBody => ({ ok: false, refused: invalid({ field: 'body', message }) })
  const bytes = takeBody(request)
  if (bytes === 'too_large') return wrong('is too large')
  if (bytes === 'media_type') return wrong('must be of the type application/json')
  if (bytes.length === 0) return { ok: true, json: {} }
  const parsed = parseJson(bytes)
  return parsed.ok ? { ok: true, json: { ...parsed.value } } : wrong(parsed.message.replace(/^the body /, ''))
}

type Numeric = Map<string, 'integer' | 'boolean' | 'array'>

function numericFields(schema: TObject | undefined): Numeric {
  const fields: Numeric = new Map()
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    const { type } = field as { type?: string }
    if (type === 'integer' || type === 'boolean' || type === 'array') fields.set(name, type)
  }
  return fields
}

/** A query is all text: numbers, truth and lists (separated by commas) become what the schema says they are. */
function typedQuery(query: Record<string, unknown>, numbers: Numeric): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const type = numbers.get(name)
      if (typeof value !== 'string' || type === undefined) return [name, value]
      if (type === 'array') return [name, value.split(',').filter((item) => item !== '')]
      if (type === 'integer') return [name, /^-?\d{1,15}$/.test(value) ? Number(value) : value]
      return [name, value === 'true' ? true : value === 'false' ? false : value]
    }),
  )
}

const readIfMatch = (header: string | undefined): string | undefined => {
  if (header === undefined || header.trim() === '*') return undefined
  return header.trim().replace(/^W\//, '').replaceAll('"', '')
}

/**
 * Reads a request's body as raw bytes: idempotency hashes them, and rule T1 comes before any schema. Every chunk
 * counts against the bound on bodies in flight from the moment it is here until the work on it is done.
 */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { UnavailableError } from '../lib/unavailable.ts'
import { trackOf, type BodyBudget } from './tracking.ts'

export type BodyProblem = 'too_large' | 'media_type'

type Read = Buffer | BodyProblem | 'overloaded'
type Done = (error: Error | null, body?: Read) => void

export type BodyOptions = {
  budget: BodyBudget
  maxBytes: number
  /** Judges the Content-Type header; JSON, or none, unless told otherwise. */
  isWanted?: (contentType: string | undefined) => boolean
}

/**
 * A refused body is still read to its end, up to this much, because closing the connection under a client that
 * is writing makes it see a reset instead of the answer.
 */
const maxDiscardedBytes = 64 * 1024 * 1024

const empty = Buffer.alloc(0)

/** Makes every route of this scope take raw bytes; the handler gets them by `takeBody`. */
export function readRawBodies(scope: FastifyInstance, options: BodyOptions): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (request: FastifyRequest, _payload: unknown, done: Done) => {
    if (request.is404) done(null)
    else receive(request.raw, options, done)
  })
}

/** The body, or what is wrong with it, which each surface words for itself. */
export function takeBody(request: FastifyRequest): Buffer | BodyProblem {
  const body = request.body as Read | undefined
  if (body === 'overloaded')
    throw new UnavailableError('the server holds too many bytes of request bodies; try again')
  return body ?? empty
}

const jsonType =
  /^(?:application|text)\/(?:[a-z0-9!#$&^_.+-]+\+)?json(?:\s*;\s*charset\s*=\s*"?utf-?8"?)?\s*;?$/i

/** A missing Content-Type is read as JSON. */
export const isJsonType = (contentType: string | undefined): boolean =>
  contentType === undefined || contentType === 'application/json' || jsonType.test(contentType.trim())

function receive(req: IncomingMessage, options: BodyOptions, done: Done): void {
  const { headers } = req
  const encoding = headers['content-encoding']
  const isWanted = options.isWanted ?? isJsonType
  if ((encoding !== undefined && encoding !== 'identity') || !isWanted(headers['content-type'])) {
    discard(req, 0)
    done(null, 'media_type')
  } else if (Number(headers['content-length']) > options.maxBytes) {
    discard(req, 0)
    done(null, 'too_large')
  } else collect(req, options, done)
}

function collect(req: IncomingMessage, { budget, maxBytes }: BodyOptions, done: Done): void {
  const track = trackOf(req)
  let chunks: Buffer[] = []
  const refuse = (problem: Read) => {
    budget.heldBytes -= track.heldBytes
    const received = track.heldBytes
    track.heldBytes = 0
    chunks = []
    req.off('data', onData).off('end', onEnd)
    discard(req, received)
    done(null, problem)
  }
  const onData = (chunk: Buffer) => {
    track.heldBytes += chunk.length
    budget.heldBytes += chunk.length
    if (track.heldBytes > maxBytes) refuse('too_large')
    else if (budget.heldBytes > budget.limitBytes) refuse('overloaded')
    else chunks.push(chunk)
  }
  const onEnd = () => done(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  // A client that goes away before the end gets no answer; closing the response gives the bytes back.
  req.on('data', onData).once('end', onEnd)
}

function discard(req: IncomingMessage, received: number): void {
  let discarded = received
  req.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > maxDiscardedBytes) req.destroy()
  })
}

/**
 * A small pool of threads that read large bodies (parse, check, decode base64, hash), so that the event loop stays
 * free for everybody else: 32 MiB take some 150 ms. Bytes are handed over, not copied. A thread that runs out of
 * memory or throws ends alone: its request is refused and a new thread takes its place.
 */
import { Worker } from 'node:worker_threads'
import { UnavailableError } from '../lib/unavailable.ts'
import { readSendBody, type ReadSendBody } from './unified/read-send-body.ts'

export type ReadBody = (raw: Buffer, isHashed: boolean) => Promise<ReadSendBody> | ReadSendBody

export type LargeBodyReader = { read: ReadBody; close(): Promise<void> }

export type LargeBodyRequest = { raw: Uint8Array; isHashed: boolean }
export type LargeBodyReply = { read: ReadSendBody } | { fault: string }

export const largeBodyBytes = 256 * 1024

const maxWaiting = 64
const memoryMb = 512

type Job = { request: LargeBodyRequest; resolve(read: ReadSendBody): void; reject(error: Error): void }

const tooMuch: ReadSendBody = { kind: 'not_an_object', message: 'the body is too complex to be read' }

export function createLargeBodyReader(threads = 2): LargeBodyReader {
  const idle: Worker[] = []
  const running = new Map<Worker, Job>()
  const waiting: Job[] = []
  let isClosed = false

  const start = (): Worker => {
    const worker = new Worker(new URL('./large-bodies-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    })
    worker.unref()
    worker.on('message', (reply: LargeBodyReply) => {
      const job = running.get(worker)
      running.delete(worker)
      idle.push(worker)
      if ('fault' in reply) job?.reject(new Error(`Reading a large body failed: ${reply.fault}`))
      else job?.resolve(reply.read)
      next()
    })
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const job = running.get(worker)
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') job?.resolve(tooMuch)
      else job?.reject(error)
      running.delete(worker)
    })
    worker.on('exit', () => {
      running.get(worker)?.reject(new UnavailableError('the server is stopping'))
      running.delete(worker)
      const place = idle.indexOf(worker)
      if (place >= 0) idle.splice(place, 1)
      if (!isClosed) next()
    })
    return worker
  }

  const next = () => {
    while (waiting.length > 0 && (idle.length > 0 || running.size < threads)) {
      const job = waiting.shift()!
      const worker = idle.pop() ?? start()
      running.set(worker, job)
      worker.postMessage(job.request, [job.request.raw.buffer as ArrayBuffer])
    }
  }

  const readInThread = (raw: Buffer, isHashed: boolean) =>
    new Promise<ReadSendBody>((resolve, reject) => {
      if (isClosed || waiting.length >= maxWaiting)
        return reject(new UnavailableError('too many large bodies are waiting'))
      // A buffer that shares Node's pool cannot be handed over.
      const own = raw.length === raw.buffer.byteLength ? raw : new Uint8Array(raw)
      waiting.push({ request: { raw: own, isHashed }, resolve, reject })
      return next()
    })

  return {
    read: (raw, isHashed) =>
      raw.length <= largeBodyBytes ? readSendBody(raw, isHashed) : readInThread(raw, isHashed),
    async close() {
      isClosed = true
      await Promise.all([...idle, ...running.keys()].map((worker) => worker.terminate()))
      for (const job of waiting.splice(0)) job.reject(new UnavailableError('the server is stopping'))
    },
  }
}

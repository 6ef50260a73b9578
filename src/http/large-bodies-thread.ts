/** The thread of `large-bodies.ts`. */
import { parentPort } from 'node:worker_threads'
import type { LargeBodyReply, LargeBodyRequest } from './large-bodies.ts'
import { readSendBody } from './unified/read-send-body.ts'

parentPort?.on('message', ({ raw, isHashed }: LargeBodyRequest) => {
  try {
    const read = readSendBody(raw, isHashed)
    const files = read.kind === 'read' ? read.files : []
    const reply: LargeBodyReply = { read }
    const buffers = files.flatMap((file) =>
      file.kind === 'content' ? [file.bytes.buffer as ArrayBuffer] : [],
    )
    parentPort!.postMessage(reply, buffers)
  } catch (error) {
    const reply: LargeBodyReply = { fault: error instanceof Error ? error.message : String(error) }
    parentPort!.postMessage(reply)
  }
})

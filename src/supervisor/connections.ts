import cluster, { type Worker } from 'node:cluster'

/** What node:cluster itself sends when it hands a connection to a process, and the answer it waits for. */
type HandOver = { cmd: 'NODE_CLUSTER'; act: 'newconn'; seq: number }
type Answer = { cmd: 'NODE_CLUSTER'; ack: number; accepted: boolean }

/**
 * A connection that was on its way to a process when that died would hang for ever: node:cluster waits for the dead
 * one's answer and keeps the socket open. Here we answer in its place that it was not taken, so that cluster deals it
 * to another; with no other left it is closed, and the client sees that at once.
 */
export function rescueConnections(worker: Worker): void {
  const unanswered = new Map<number, { close(): void }>()
  const { process: child } = worker
  const send = child.send.bind(child)
  child.send = (...args: unknown[]): boolean => {
    const [message, handle] = args
    if (isHandOver(message) && isClosable(handle)) unanswered.set(message.seq, handle)
    return Reflect.apply(send, child, args)
  }
  child.on('internalMessage', (message: unknown) => {
    if (isAnswer(message)) unanswered.delete(message.ack)
  })
  let isGone = false
  child.once('disconnect', () => {
    isGone = true
    const hasOthers = Object.values(cluster.workers ?? {}).some(
      (other) => other !== worker && other?.isConnected(),
    )
    const left = [...unanswered]
    unanswered.clear()
    for (const [seq, handle] of left) {
      const answer: Answer = { cmd: 'NODE_CLUSTER', ack: seq, accepted: false }
      if (hasOthers) child.emit('internalMessage', answer)
      else handle.close()
    }
  })
  // With a connection on its way Node never says `disconnect`, and cluster goes on dealing to the dead process.
  child.once('exit', () => setImmediate(() => void (isGone || child.emit('disconnect'))))
}

function isHandOver(message: unknown): message is HandOver {
  return typeof message === 'object' && message !== null && 'act' in message && message.act === 'newconn'
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === 'object' && message !== null && 'ack' in message && 'accepted' in message
}

function isClosable(handle: unknown): handle is { close(): void } {
  return typeof handle === 'object' && handle !== null && 'close' in handle
}

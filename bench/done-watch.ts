/** What the provider has finished, told over a socket every few milliseconds, one line of numbers each. */
import { connect } from 'node:net'

export type ProviderCounts = {
  /** submit_sm that were answered. */
  submitted: number
  /** Receipts whose answer said that they are stored. */
  receipts: number
  /** Receipts that were not taken and came again. */
  refused: number
  /** Messages with which the provider has nothing more to do. */
  done: number
  /** Sessions that are bound. */
  bound: number
}

export const tellEveryMs = 10

export const formatCounts = ({ submitted, receipts, refused, done, bound }: ProviderCounts): string =>
  `${submitted} ${receipts} ${refused} ${done} ${bound}\n`

export function readCounts(line: string): ProviderCounts {
  const [submitted = 0, receipts = 0, refused = 0, done = 0, bound = 0] = line.split(' ').map(Number)
  return { submitted, receipts, refused, done, bound }
}

export type DoneWatch = {
  /** Finished since the watch began. */
  done(): number
  counts(): ProviderCounts
  close(): void
}

/** Resolves with the first numbers. */
export function watchDone(port: number): Promise<DoneWatch> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let text = ''
    let first: ProviderCounts | undefined
    let last: ProviderCounts | undefined
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
      const end = text.lastIndexOf('\n')
      if (end < 0) return
      last = readCounts(text.slice(text.lastIndexOf('\n', end - 1) + 1, end))
      text = text.slice(end + 1)
      if (first !== undefined) return
      first = last
      resolve({
        done: () => last!.done - first!.done,
        counts: () => last!,
        close: () => socket.destroy(),
      })
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (first === undefined) reject(new Error('the provider hung up'))
    })
  })
}

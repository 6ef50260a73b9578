/**
 * What waits to be written. Units are encoded at once into one buffer and go out together, after all that came in
 * with this turn of the event loop has been dealt with: at full load that is one write for hundreds of units.
 */
import type { Socket } from 'node:net'
import { writePdu } from './encode.ts'
import { OctetWriter } from './octets.ts'
import type { PduInput } from './pdu.ts'

const slabBytes = 64 * 1024

export class Outbox {
  readonly #socket: Socket
  readonly #writer = new OctetWriter(slabBytes)
  #batch = 0
  #isFlushPlanned = false
  #isBlocked = false
  #isEnded = false

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('drain', () => {
      this.#isBlocked = false
      this.#flush()
    })
  }

  /** The number of the batch that the next unit goes with. */
  get batch(): number {
    return this.#batch
  }

  /** The peer reads slower than we write. */
  get isBlocked(): boolean {
    return this.#isBlocked
  }

  get queuedBytes(): number {
    return this.#writer.length + this.#socket.writableLength
  }

  write(pdu: PduInput, sequence: number): void {
    if (this.#isEnded) return
    writePdu(this.#writer, pdu, sequence)
    if (this.#isFlushPlanned || this.#isBlocked) return
    this.#isFlushPlanned = true
    setImmediate(() => {
      this.#isFlushPlanned = false
      this.#flush()
    })
  }

  /** Sends what is left and nothing after it. */
  end(): void {
    if (this.#isEnded) return
    this.#isBlocked = false
    this.#flush()
    this.#isEnded = true
    this.#socket.end()
  }

  #flush(): void {
    if (this.#isBlocked || this.#isEnded || this.#socket.destroyed || this.#writer.length === 0) return
    this.#batch++
    this.#isBlocked = !this.#socket.write(this.#writer.take())
  }
}

/**
 * Cuts a stream of octets into units, however the network divides it. A unit that arrives whole is a view into the
 * chunk; one that arrives in pieces is collected in a buffer of its own, so that a peer that sends octet by octet
 * costs one copy of each. A length that cannot be ends the stream: nothing behind it can be trusted.
 */
import { headerBytes, maxPduBytes as defaultMaxPduBytes } from './pdu.ts'

export type Framed = { units: Buffer[]; fault?: string }

export class PduStream {
  readonly #maxPduBytes: number
  readonly #length = Buffer.alloc(4)
  #lengthOctets = 0
  #unit: Buffer | undefined
  #unitOctets = 0
  #fault: string | undefined

  constructor(maxPduBytes: number = defaultMaxPduBytes) {
    this.#maxPduBytes = maxPduBytes
  }

  /** The units that this chunk completes, and the fault that ends the stream, which is then there forever. */
  push(chunk: Buffer): Framed {
    const units: Buffer[] = []
    let at = 0
    while (at < chunk.length && this.#fault === undefined) {
      if (this.#unit !== undefined) {
        at += this.#collect(this.#unit, chunk, at, units)
      } else if (this.#lengthOctets > 0 || chunk.length - at < 4) {
        this.#length[this.#lengthOctets++] = chunk[at++]!
        if (this.#lengthOctets === 4) this.#begin(this.#length.readUInt32BE(0))
      } else {
        const length = chunk.readUInt32BE(at)
        if (length >= headerBytes && length <= this.#maxPduBytes && chunk.length - at >= length) {
          units.push(chunk.subarray(at, at + length))
          at += length
        } else {
          this.#begin(length)
          at += 4
        }
      }
    }
    return this.#fault === undefined ? { units } : { units, fault: this.#fault }
  }

  #begin(length: number): void {
    this.#lengthOctets = 0
    if (length < headerBytes || length > this.#maxPduBytes) {
      this.#fault = `a unit of ${length} octets (${headerBytes} to ${this.#maxPduBytes} are possible)`
      return
    }
    this.#unit = Buffer.allocUnsafe(length)
    this.#unitOctets = this.#unit.writeUInt32BE(length, 0)
  }

  #collect(unit: Buffer, chunk: Buffer, at: number, units: Buffer[]): number {
    const copied = chunk.copy(unit, this.#unitOctets, at)
    this.#unitOctets += copied
    if (this.#unitOctets === unit.length) {
      units.push(unit)
      this.#unit = undefined
    }
    return copied
  }
}

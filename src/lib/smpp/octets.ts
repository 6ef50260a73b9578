/**
 * Cursors over octets. The reader never throws: past the end it notes a fault and goes on giving empty values, so
 * that a decoder is straight code with one check at its end. The writer grows and hands out what it has.
 */
export class OctetReader {
  fault: string | undefined
  at: number
  readonly octets: Buffer

  constructor(octets: Buffer, at: number) {
    this.octets = octets
    this.at = at
  }

  get left(): number {
    return this.octets.length - this.at
  }

  uint8(field: string): number {
    if (this.left < 1) return this.#fail(field, 0)
    return this.octets[this.at++]!
  }

  uint16(field: string): number {
    if (this.left < 2) return this.#fail(field, 0)
    this.at += 2
    return this.octets.readUInt16BE(this.at - 2)
  }

  cString(field: string): string {
    const end = this.octets.indexOf(0, this.at)
    if (end === -1) return this.#fail(field, '')
    const text = this.octets.toString('latin1', this.at, end)
    this.at = end + 1
    return text
  }

  bytes(field: string, length: number): Buffer {
    if (this.left < length) return this.#fail(field, noOctets)
    this.at += length
    return this.octets.subarray(this.at - length, this.at)
  }

  #fail<T>(field: string, empty: T): T {
    this.fault ??= `${field} is cut off`
    this.at = this.octets.length
    return empty
  }
}

const noOctets = Buffer.alloc(0)

export class OctetWriter {
  #octets: Buffer
  #start = 0
  #at = 0
  readonly #slabBytes: number

  constructor(slabBytes: number) {
    this.#slabBytes = slabBytes
    this.#octets = Buffer.allocUnsafeSlow(slabBytes)
  }

  get length(): number {
    return this.#at - this.#start
  }

  uint8(value: number): void {
    if ((value & 0xff) !== value) throw new RangeError(`${value} is no octet`)
    this.#reserve(1)
    this.#octets[this.#at++] = value
  }

  uint16(value: number): void {
    this.#reserve(2)
    this.#at = this.#octets.writeUInt16BE(value, this.#at)
  }

  uint32(value: number): void {
    this.#reserve(4)
    this.#at = this.#octets.writeUInt32BE(value, this.#at)
  }

  /** Overwrites four octets already written; `position` counts from the first one that was not taken yet. */
  uint32At(position: number, value: number): void {
    this.#octets.writeUInt32BE(value, this.#start + position)
  }

  /** Characters are octets; one that does not fit in an octet, or would end the string early, is a fault. */
  cString(field: string, text: string, maxLength: number): void {
    if (text.length > maxLength) throw new RangeError(`${field} is longer than ${maxLength} octets`)
    this.#reserve(text.length + 1)
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code === 0 || code > 0xff) throw new RangeError(`${field} has a character that is no octet`)
      this.#octets[this.#at + index] = code
    }
    this.#at += text.length
    this.#octets[this.#at++] = 0
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#octets.set(value, this.#at)
    this.#at += value.length
  }

  /** Forgets what was written after `length`. */
  truncate(length: number): void {
    this.#at = this.#start + length
  }

  /** What was written since the last time. It is not written over again: the rest of the slab is used next. */
  take(): Buffer {
    const taken = this.#octets.subarray(this.#start, this.#at)
    this.#start = this.#at
    return taken
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#octets.length) return
    const kept = this.#octets.subarray(this.#start, this.#at)
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#slabBytes, (kept.length + count) * 2))
    grown.set(kept)
    this.#octets = grown
    this.#start = 0
    this.#at = kept.length
  }
}

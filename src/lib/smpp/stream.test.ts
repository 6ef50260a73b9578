import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodePdu } from './encode.ts'
import { PduStream } from './stream.ts'

const unit = (sequence: number, messageId: string) =>
  encodePdu({ command: 'submit_sm_resp', sequence, messageId })
const units = [
  unit(1, 'a'),
  unit(2, ''),
  unit(3, 'x'.repeat(200)),
  encodePdu({ command: 'unbind', sequence: 4 }),
]
const whole = Buffer.concat(units)

describe('PduStream', () => {
  test('octet by octet', () => {
    const stream = new PduStream()
    const read: Buffer[] = []
    for (const octet of whole) read.push(...stream.push(Buffer.from([octet])).units)
    expect(read).toEqual(units)
  })

  test('however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
        const stream = new PduStream()
        const read: Buffer[] = []
        const ends = [...cuts.toSorted((a, b) => a - b), whole.length]
        let from = 0
        for (const end of ends) {
          const { units: complete, fault } = stream.push(whole.subarray(from, end))
          expect(fault).toBeUndefined()
          read.push(...complete)
          from = end
        }
        expect(read).toEqual(units)
      }),
    )
  })

  test.each([0, 15, 1025, 0xffff_ffff])('a unit of %d octets ends the stream', (length) => {
    const head = Buffer.alloc(16)
    head.writeUInt32BE(length)
    for (const chunks of [
      [Buffer.concat([units[0]!, head])],
      [units[0]!, head.subarray(0, 3), head.subarray(3)],
    ]) {
      const stream = new PduStream(1024)
      const results = chunks.map((chunk) => stream.push(chunk))
      expect(results.flatMap((result) => result.units)).toEqual([units[0]])
      expect(results.at(-1)!.fault).toContain(`${length} octets`)
      expect(stream.push(units[1]!)).toMatchObject({ units: [], fault: expect.any(String) })
    }
  })

  test('the largest allowed unit passes', () => {
    const largest = unit(1, 'x'.repeat(100))
    expect(new PduStream(largest.length).push(largest)).toEqual({ units: [largest] })
    expect(new PduStream(largest.length - 1).push(largest).fault).toBeDefined()
  })

  test('garbage ends in units or a fault, with no more octets kept than one unit', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
        const stream = new PduStream(256)
        for (const chunk of chunks) {
          for (const read of stream.push(Buffer.from(chunk)).units)
            expect(read.length).toBe(read.readUInt32BE(0))
        }
      }),
    )
  })
})

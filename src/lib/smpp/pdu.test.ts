import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodePdu } from './decode.ts'
import { encodePdu, writePdu } from './encode.ts'
import { OctetWriter } from './octets.ts'
import { commandIds } from './pdu.ts'
import type { Command, Pdu, PduInput } from './pdu.ts'
import { status, statusName } from './status.ts'
import { findTlv, messageOctets, tags, textTlv, tlvNumber, tlvText, uint16Tlv, uint8Tlv } from './tlv.ts'

const octet = fc.integer({ min: 0, max: 255 })
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff })
const text = fc.string({
  unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 255,
})
const octets = (maxLength: number) => fc.uint8Array({ maxLength }).map((value) => Buffer.from(value))
const tlvs = fc.array(fc.record({ tag: fc.integer({ min: 0, max: 0xffff }), value: octets(300) }), {
  maxLength: 5,
})

const head = { status: uint32, sequence: uint32 }
const addresses = {
  serviceType: text,
  sourceTon: octet,
  sourceNpi: octet,
  source: text,
  destinationTon: octet,
  destinationNpi: octet,
  destination: text,
  esmClass: octet,
}
const anyPdu: fc.Arbitrary<Pdu> = fc.oneof(
  fc.record({
    command: fc.constantFrom(
      'bind_receiver' as const,
      'bind_transmitter' as const,
      'bind_transceiver' as const,
    ),
    ...head,
    systemId: text,
    password: text,
    systemType: text,
    interfaceVersion: octet,
    addrTon: octet,
    addrNpi: octet,
    addressRange: text,
  }),
  fc.record({
    command: fc.constantFrom(
      'bind_receiver_resp' as const,
      'bind_transmitter_resp' as const,
      'bind_transceiver_resp' as const,
    ),
    ...head,
    systemId: text,
    tlvs,
  }),
  fc.record({
    command: fc.constantFrom('submit_sm' as const, 'deliver_sm' as const),
    ...head,
    ...addresses,
    protocolId: octet,
    priorityFlag: octet,
    scheduleDeliveryTime: text,
    validityPeriod: text,
    registeredDelivery: octet,
    replaceIfPresent: octet,
    dataCoding: octet,
    defaultMessageId: octet,
    shortMessage: octets(254),
    tlvs,
  }),
  fc.record({
    command: fc.constant('data_sm' as const),
    ...head,
    ...addresses,
    registeredDelivery: octet,
    dataCoding: octet,
    tlvs,
  }),
  fc.record({
    command: fc.constantFrom('submit_sm_resp' as const, 'deliver_sm_resp' as const, 'data_sm_resp' as const),
    ...head,
    messageId: text,
    tlvs,
  }),
  fc.record({
    command: fc.constantFrom(
      'unbind' as const,
      'unbind_resp' as const,
      'enquire_link' as const,
      'enquire_link_resp' as const,
      'generic_nack' as const,
    ),
    ...head,
  }),
)

describe('units', () => {
  test('what is written is read back, for every command', () => {
    const seen = new Set<Command>()
    fc.assert(
      fc.property(anyPdu, (pdu) => {
        seen.add(pdu.command)
        expect(decodePdu(encodePdu(pdu))).toEqual({ ok: true, pdu })
      }),
      { numRuns: 500 },
    )
    expect([...seen].toSorted()).toEqual(Object.keys(commandIds).toSorted())
  })

  test('an enquire_link and a submit_sm, octet by octet', () => {
    expect(encodePdu({ command: 'enquire_link', sequence: 7 }).toString('hex')).toBe(
      '00000010000000150000000000000007',
    )
    const submit = encodePdu({
      command: 'submit_sm',
      sequence: 1,
      sourceTon: 5,
      source: 'Pombo',
      destinationTon: 1,
      destinationNpi: 1,
      destination: '5531996883193',
      registeredDelivery: 1,
      shortMessage: Buffer.from('hi'),
      tlvs: [uint8Tlv(tags.destAddrSubunit, 1)],
    })
    const expected = [
      ['0000003a', '00000004', '00000000', '00000001'],
      ['00', '05', '00', '506f6d626f00', '01', '01', '3535333139393638383331393300'],
      ['00', '00', '00', '00', '00', '01', '00', '00', '00', '02', '6869'],
      ['0005', '0001', '01'],
    ]
    expect(submit.toString('hex')).toBe(expected.flat().join(''))
  })

  test('defaults are zero and empty, the version 3.4', () => {
    expect(decodePdu(encodePdu({ command: 'bind_transceiver', systemId: 'me' }))).toEqual({
      ok: true,
      pdu: {
        command: 'bind_transceiver',
        status: 0,
        sequence: 0,
        systemId: 'me',
        password: '',
        systemType: '',
        interfaceVersion: 0x34,
        addrTon: 0,
        addrNpi: 0,
        addressRange: '',
      },
    })
  })

  test('an error answer has no body, and a body that is missing is empty', () => {
    const refused = encodePdu({ command: 'submit_sm_resp', status: status.ESME_RTHROTTLED, sequence: 3 })
    expect(refused).toHaveLength(16)
    expect(decodePdu(refused)).toMatchObject({ ok: true, pdu: { status: 0x58, messageId: '', tlvs: [] } })
    expect(encodePdu({ command: 'submit_sm_resp', messageId: '' })).toHaveLength(17)
  })

  test('the id of an accepted message survives junk behind it', () => {
    const answer = Buffer.concat([
      encodePdu({ command: 'submit_sm_resp', messageId: 'abc' }),
      Buffer.from([1, 2, 3]),
    ])
    answer.writeUInt32BE(answer.length)
    expect(decodePdu(answer)).toMatchObject({ ok: true, pdu: { messageId: 'abc', tlvs: [] } })
  })

  test('a value that does not fit is a fault, and nothing of it is written', () => {
    const writer = new OctetWriter(64)
    writePdu(writer, { command: 'enquire_link', sequence: 1 })
    const tooMuch: PduInput[] = [
      { command: 'submit_sm', shortMessage: new Uint8Array(255) },
      { command: 'submit_sm', destination: '5531\u0000' },
      { command: 'submit_sm', source: 'São €' },
      { command: 'submit_sm', source: 'x'.repeat(256) },
      { command: 'submit_sm', tlvs: [{ tag: tags.messagePayload, value: new Uint8Array(65_536) }] },
      {
        command: 'data_sm',
        tlvs: Array.from({ length: 3 }, () => ({ tag: 1, value: new Uint8Array(30_000) })),
      },
      { command: 'submit_sm', esmClass: 256 },
      { command: 'submit_sm', dataCoding: 1.5 },
      { command: 'submit_sm', status: -1 },
    ]
    for (const pdu of tooMuch) {
      expect(() => writePdu(writer, pdu)).toThrow(RangeError)
    }
    writePdu(writer, { command: 'unbind', sequence: 2 })
    expect(writer.take().toString('hex')).toBe(
      '0000001000000015000000000000000100000010000000060000000000000002',
    )
  })

  test('the longest payload fits', () => {
    const tlv = { tag: tags.messagePayload, value: Buffer.alloc(65_535, 7) }
    const decoded = decodePdu(encodePdu({ command: 'deliver_sm', tlvs: [tlv] }))
    expect(decoded).toMatchObject({ ok: true, pdu: { tlvs: [tlv] } })
  })
})

describe('octets that are no unit', () => {
  const commandId = fc.constantFrom(...Object.values(commandIds), 0x0b, 0x21, 0x8000_0021, 0xffff_ffff)

  test('garbage behind any header is read or refused, never thrown', () => {
    fc.assert(
      fc.property(
        commandId,
        uint32,
        uint32,
        fc.uint8Array({ maxLength: 200 }),
        (id, code, sequence, garbage) => {
          const unit = Buffer.alloc(16 + garbage.length)
          unit.writeUInt32BE(unit.length, 0)
          unit.writeUInt32BE(id, 4)
          unit.writeUInt32BE(code, 8)
          unit.writeUInt32BE(sequence, 12)
          unit.set(garbage, 16)
          const decoded = decodePdu(unit)
          if (decoded.ok) expect(decoded.pdu.sequence).toBe(sequence)
          else
            expect(decoded).toMatchObject({ reason: expect.any(String), header: { commandId: id, sequence } })
        },
      ),
      { numRuns: 2000 },
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (garbage) => 'ok' in decodePdu(Buffer.from(garbage))),
    )
  })

  test('every truncation of a request is refused', () => {
    const whole = encodePdu({ command: 'submit_sm', destination: '55', shortMessage: Buffer.from('hello') })
    for (let length = 0; length < whole.length; length++) {
      const cut = Buffer.from(whole.subarray(0, length))
      expect(decodePdu(cut).ok).toBe(false)
      if (length >= 4) cut.writeUInt32BE(length)
      expect(decodePdu(cut)).toMatchObject({ ok: false, status: status.ESME_RINVCMDLEN })
    }
  })

  test('unknown commands are refused by their own status', () => {
    const outbind = encodePdu({ command: 'enquire_link', sequence: 9 })
    outbind.writeUInt32BE(0x0b, 4)
    expect(decodePdu(outbind)).toMatchObject({
      ok: false,
      status: status.ESME_RINVCMDID,
      header: { commandId: 0x0b, sequence: 9 },
    })
  })
})

describe('optional parameters', () => {
  const list = [
    textTlv(tags.receiptedMessageId, 'abc'),
    uint8Tlv(tags.messageState, 2),
    uint16Tlv(tags.sarMsgRefNum, 0x1234),
    { tag: 0x1400, value: Buffer.from('no zero') },
    { tag: 0x1401, value: Buffer.alloc(5) },
  ]

  test('are found by tag', () => {
    expect(tlvText(list, tags.receiptedMessageId)).toBe('abc')
    expect(tlvText(list, 0x1400)).toBe('no zero')
    expect(tlvNumber(list, tags.messageState)).toBe(2)
    expect(tlvNumber(list, tags.sarMsgRefNum)).toBe(0x1234)
    expect(tlvNumber(list, 0x1401)).toBeUndefined()
    expect(findTlv(list, 0x9999)).toBeUndefined()
    expect(tlvText(list, 0x9999)).toBeUndefined()
  })

  test('a payload stands in for the short message', () => {
    const payload = { tag: tags.messagePayload, value: Buffer.from('long') }
    expect(messageOctets({ shortMessage: Buffer.alloc(0), tlvs: [payload] })).toEqual(Buffer.from('long'))
    expect(messageOctets({ shortMessage: Buffer.from('x'), tlvs: [payload] })).toEqual(Buffer.from('x'))
    expect(messageOctets({ tlvs: [] })).toHaveLength(0)
  })
})

test('statuses have names', () => {
  expect(statusName(0)).toBe('ESME_ROK')
  expect(statusName(0x58)).toBe('ESME_RTHROTTLED')
  expect(statusName(0x403)).toBe('0x0403')
})

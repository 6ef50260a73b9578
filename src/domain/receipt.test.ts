import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MessageState } from './message.ts'
import { combineParts, foldPart, foldReceipts, type ReceiptState } from './receipt.ts'

const receiptStates: ReceiptState[] = ['sent', 'failed', 'delivered', 'read']
const told = fc.array(fc.constantFrom(...receiptStates), { minLength: 1, maxLength: 8 })
const from = fc.constantFrom<MessageState>('sent', 'unknown', 'delivered', 'failed', 'expired', 'read')

const after = (state: MessageState, receipts: readonly ReceiptState[]): MessageState =>
  foldReceipts(state, receipts).at(-1) ?? state

test('any order, any repetition and any cut into batches end in the same state', () => {
  fc.assert(
    fc.property(
      from,
      told,
      fc.func(fc.integer()),
      fc.integer({ min: 1, max: 4 }),
      (start, set, order, size) => {
        const shuffled = [...set, ...set].toSorted((a, b) => order(a) - order(b))
        let state = start
        for (let at = 0; at < shuffled.length; at += size) state = after(state, shuffled.slice(at, at + size))
        expect(state).toBe(after(start, set))
      },
    ),
  )
})

test('a failure told together with a delivery is passed over', () => {
  expect(foldReceipts('sent', ['failed', 'read', 'delivered'])).toEqual(['delivered', 'read'])
  expect(foldReceipts('failed', ['delivered'])).toEqual(['delivered'])
  expect(foldReceipts('sent', ['expired', 'failed', 'sent'])).toEqual(['expired'])
  expect(foldReceipts('unknown', ['delivered', 'sent'])).toEqual(['sent', 'delivered'])
})

test('what has ended, and what never left, changes no more', () => {
  for (const state of ['read', 'blocked', 'not_sent'] as const)
    expect(foldReceipts(state, ['sent', 'delivered', 'read', 'failed'])).toEqual([])
})

test('several parts: the least advanced counts, one that failed makes all fail, a late delivery mends it', () => {
  expect(combineParts(['delivered', 'sent'])).toBe('sent')
  expect(combineParts(['read', 'delivered'])).toBe('delivered')
  expect(combineParts(['read', 'failed'])).toBe('failed')
  expect(foldPart(null, ['sent'])).toBe('sent')
  expect(combineParts([foldPart('failed', ['delivered']), 'read'])).toBe('delivered')
})

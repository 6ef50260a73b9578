/** Parts of long texts, joined when all are there; what stays incomplete is shown as it is after a while. */
import type { Segment } from './judge-submit.ts'

export type ArrivedPart = { messageId: string; segment: Segment }
export type Assembly<Facts> = { facts: Facts; total: number; parts: ArrivedPart[] }

export type Assembler<Facts> = {
  add(key: string, facts: Facts, part: ArrivedPart): void
  flush(): void
}

const maxPending = 5_000

export function createAssembler<Facts>(options: {
  /** Longer than any sender pauses between parts, short enough to be seen while one looks. */
  waitMs?: number
  done: (assembly: Assembly<Facts>) => void
}): Assembler<Facts> {
  const { waitMs = 30_000, done } = options
  const pending = new Map<
    string,
    { facts: Facts; total: number; parts: Map<number, ArrivedPart>; timer: NodeJS.Timeout }
  >()

  function finish(key: string): void {
    const assembly = pending.get(key)
    if (!assembly) return
    pending.delete(key)
    clearTimeout(assembly.timer)
    const numbers = [...assembly.parts.keys()].toSorted((a, b) => a - b)
    done({
      facts: assembly.facts,
      total: assembly.total,
      parts: numbers.map((number) => assembly.parts.get(number)!),
    })
  }

  return {
    add(key, facts, part) {
      const { joint } = part.segment
      if (!joint) {
        done({ facts, total: 1, parts: [part] })
        return
      }
      const ownKey = `${key}|${joint.reference}|${joint.total}`
      let assembly = pending.get(ownKey)
      if (!assembly) {
        if (pending.size >= maxPending) finish(pending.keys().next().value!)
        assembly = {
          facts,
          total: joint.total,
          parts: new Map(),
          timer: setTimeout(() => finish(ownKey), waitMs),
        }
        pending.set(ownKey, assembly)
      }
      assembly.parts.set(joint.part, part)
      if (assembly.parts.size === assembly.total) finish(ownKey)
    },
    flush() {
      for (const key of pending.keys()) finish(key)
    },
  }
}

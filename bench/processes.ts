/** Memory of the Node processes under one of them, from /proc. */
import { readdir, readFile, readlink } from 'node:fs/promises'
import path from 'node:path'

export type Memory = {
  processes: number
  /** Each page counted once: shared ones by their share. */
  pssMb: number
  /** The usual number, which counts what processes share (the program itself above all) once for each. */
  rssMb: number
}

/** Undefined where there is no /proc. */
export async function nodeMemory(rootPid: number): Promise<Memory | undefined> {
  const parents = await readParents()
  if (parents === undefined) return undefined
  const sum: Memory = { processes: 0, pssMb: 0, rssMb: 0 }
  for (const pid of descendants(parents, rootPid)) {
    const memory = await readMemory(pid)
    if (memory === undefined) continue
    sum.processes++
    sum.pssMb += memory.pssMb
    sum.rssMb += memory.rssMb
  }
  return sum
}

/** The root itself and all below it. */
export function descendants(parents: ReadonlyMap<number, number>, rootPid: number): number[] {
  const found = [rootPid]
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child)
  return found
}

async function readParents(): Promise<Map<number, number> | undefined> {
  const names = await readdir('/proc').catch(() => undefined)
  if (names === undefined) return undefined
  const parents = new Map<number, number>()
  await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
        // The name in brackets may hold anything; what follows it is the state and the parent.
        const parent = /^\S+ (\d+)/.exec(stat.slice(stat.lastIndexOf(')') + 2))?.[1]
        if (parent !== undefined) parents.set(Number(name), Number(parent))
      }),
  )
  return parents
}

async function readMemory(pid: number): Promise<{ pssMb: number; rssMb: number } | undefined> {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '')
  if (path.basename(program) !== 'node') return undefined
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : parseRollup(text)
}

export function parseRollup(text: string): { pssMb: number; rssMb: number } {
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)
  return { pssMb: (kib('Pss') * 1024) / 1e6, rssMb: (kib('Rss') * 1024) / 1e6 }
}

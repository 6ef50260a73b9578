import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readLines, type LineReader } from './lines.ts'

const program = fileURLToPath(new URL('embedded-process.ts', import.meta.url))

/** The embedded database in a process of its own, as another user if need be. */
export function startEmbeddedProcess(
  dataDir: string,
  options: { uid?: number; gid?: number; program?: string } = {},
): { child: ChildProcess; lines: LineReader; stop(): void } {
  const { uid, gid } = options
  const child = spawn(process.execPath, [options.program ?? program, dataDir], {
    uid,
    gid,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  return { child, lines: readLines(child), stop: () => child.stdin.write('stop\n') }
}

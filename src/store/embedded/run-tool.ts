import { spawn } from 'node:child_process'
import type { Account } from './account.ts'

export type ToolResult = { code: number | null; output: string }

/** Nothing of our own environment reaches PostgreSQL: PG* variables and locales would change what it does. Windows needs its own to load libraries. */
export const serverEnv =
  process.platform === 'win32' ? undefined : { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** Runs initdb and the like to their end; the last 64 KB of what they say are kept. */
export function runTool(
  file: string,
  args: string[],
  options: { account: Account | undefined; cwd: string; input?: string; timeoutMs: number },
): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      uid: options.account?.uid,
      gid: options.account?.gid,
      cwd: options.cwd,
      env: serverEnv,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
      windowsHide: true,
    })
    let output = ''
    const keep = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-65_536))
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
  })
}

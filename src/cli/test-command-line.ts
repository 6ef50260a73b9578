/** `pombo …` inside the test's own process, which is ten times as quick as one of its own. */
import { vi } from 'vitest'
import { settings } from '../config.ts'
import { runCommandLine } from './run.ts'

export type Ended = { code: number; out: string; err: string }

export type Called = {
  env?: Record<string, string>
  input?: string
  /** What the person at the terminal answers; without it there is nobody. */
  answer?: string
}

/** A caller with these settings; every other setting is as if not given. */
export const commandLine =
  (environment: () => Record<string, string>) =>
  async (args: string[], { env, input, answer }: Called = {}): Promise<Ended> => {
    for (const name of Object.keys(settings)) vi.stubEnv(name, undefined)
    for (const [name, value] of Object.entries({ ...environment(), ...env })) vi.stubEnv(name, value)
    const ended: Ended = { code: 0, out: '', err: '' }
    ended.code = await runCommandLine(args, {
      out: (text) => void (ended.out += `${text}\n`),
      // How far it is: shown after a second, which a busy machine may need.
      err: (text) => void (ended.err += /^[█░]|values sealed$/.test(text) ? '' : `${text}\n`),
      isTerminal: false,
      readInput: async () => input ?? '',
      ...(answer !== undefined && {
        ask: async (question: string) => {
          ended.out += question
          return answer
        },
      }),
    })
    vi.unstubAllEnvs()
    return ended
  }

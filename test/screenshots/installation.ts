/** The whole program with its demo company on a data folder of its own, whose clock can be set back. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Quickstart } from '../../src/flows/demo/quickstart.ts'
import { launchProgram } from '../harness/program.ts'

export type Installation = {
  url: string
  quickstart: Quickstart
  /** From now on the program believes that it is so many hours ago. */
  setHoursAgo(hours: number): Promise<void>
  /** The admin API, as the demo's administrator. */
  admin<T>(method: string, path: string, body?: unknown): Promise<T>
  /** The sandbox's own API. */
  sandbox<T>(method: string, path: string, body?: unknown): Promise<T>
  /** The administrator's cookie, for a browser. */
  cookie(): Promise<{ name: string; value: string }>
  stop(): Promise<void>
}

const callMs = 20_000
/** Processes look at their clock's file every 100 ms. */
const clockMs = 300

export async function startInstallation(): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'pombo-screenshots-'))
  const clockFile = join(folder, 'clock')
  const writeClock = (hours: number) => writeFile(clockFile, String(-hours * 3_600_000))
  await writeClock(0)
  const program = await launchProgram({
    isLinked: true,
    env: {
      POMBO_SERVING_PROCESSES: '1',
      POMBO_SANDBOX_PORT: '0',
      POMBO_LOG_LEVEL: 'error',
      POMBO_DRAIN_SECONDS: '5',
      POMBO_SOAK_CLOCK_FILE: clockFile,
      NODE_OPTIONS: `--import=${new URL('../soak/clock-shift.ts', import.meta.url).href}`,
    },
  })
  const stop = async () => {
    await program.stop()
    await rm(folder, { recursive: true, force: true })
  }
  let quickstart: Quickstart
  try {
    await program.waitUntilReady()
    quickstart = await program.quickstart()
  } catch (error) {
    await stop()
    throw error
  }

  const signIn = async (): Promise<string> => {
    const { company, username, password } = quickstart.console
    const answer = await fetch(`${program.baseUrl}/admin/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-pombo-console': '1' },
      body: JSON.stringify({ company, username, password }),
      signal: AbortSignal.timeout(callMs),
    })
    if (!answer.ok) throw new Error(`The sign-in was answered ${answer.status}: ${await answer.text()}`)
    return (answer.headers.get('set-cookie') ?? '').split(';')[0]!
  }
  let session: string | undefined
  return {
    url: program.baseUrl,
    quickstart,
    async setHoursAgo(hours) {
      await writeClock(hours)
      await delay(clockMs)
      // A session may have ended in the hours that were skipped.
      session = undefined
    },
    async admin(method, path, body) {
      session ??= await signIn()
      return await call(method, `${program.baseUrl}/admin/v1${path}`, body, {
        cookie: session,
        'x-pombo-console': '1',
      })
    },
    sandbox: (method, path, body) => call(method, `${quickstart.sandbox.url}/api${path}`, body),
    async cookie() {
      const [name = '', value = ''] = (await signIn()).split('=')
      return { name, value }
    },
    stop,
  }
}

async function call<T>(
  method: string,
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(callMs),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${url} was answered ${answer.status}: ${text.slice(0, 500)}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

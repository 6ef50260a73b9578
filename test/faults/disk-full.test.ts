/** A whole program whose disk fills up while it runs (needs root and mount; elsewhere it is skipped). */
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { createDb } from '../../src/store/db.ts'
import { runningUrl } from '../../src/store/embedded/index.ts'
import { request, until, type Answer } from '../harness/http.ts'
import { startProgram, type Program } from '../harness/program.ts'

async function tryMount(disk: string): Promise<boolean> {
  await mkdir(disk)
  await chmod(join(disk, '..'), 0o755)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=755', 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Sends e-mails of some size one after another, and remembers what it was told. */
async function createSender(program: Program) {
  const { unified } = await program.quickstart()
  const login = await request(`${unified.baseUrl}/v1/login`, {
    body: { Company: unified.company, Username: unified.username, Password: unified.password },
  })
  const told: string[] = []
  const send = async (): Promise<Answer> => {
    const answer = await request(`${unified.baseUrl}/v1/sendmessage`, {
      headers: { authorization: `Bearer ${String(login.body['access_token'])}` },
      timeoutMs: 60_000,
      body: {
        platformPrivateToken: unified.platformPrivateToken,
        channel: 1,
        emailSubject: 'Hello',
        // Nothing that compresses well, or the database would hardly grow.
        text: Array.from({ length: 2_000 }, () => Math.random().toString(36)).join(' '),
        destination: { email: `person${Math.random()}@example.com` },
      },
    })
    if (answer.status === 200) told.push(String(answer.body['messageId']))
    return answer
  }
  return { told, send }
}

test('a disk that fills up: 503 and never a false 200; with room again it recovers by itself, and what was told is there', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pombo-disk-'))
  const disk = join(folder, 'disk')
  const isMounted = await tryMount(disk)
  let program: Program | undefined
  try {
    if (!isMounted) return context.skip()
    const dataDir = join(disk, 'data')
    await mkdir(dataDir)
    // The guard that stops well before the end is switched off: here the disk is really full.
    const env = { POMBO_MIN_FREE_DISK_MIB: '0', POMBO_SERVING_PROCESSES: '1', POMBO_LOG_LEVEL: 'silent' }
    program = await startProgram({ dataDir, env })
    const { told, send } = await createSender(program)
    expect((await send()).status).toBe(200)
    const ballast = join(disk, 'ballast')
    await writeFile(ballast, Buffer.alloc(400 * 1024 * 1024)).catch(() => undefined)
    const refused = await until(
      'sends are turned away',
      async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, send))
        return answers.find((answer) => answer.status !== 200)
      },
      60_000,
    )
    expect(refused.status, refused.text).toBe(503)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    for (let count = 0; count < 10; count++) expect([200, 503]).toContain((await send()).status)
    await rm(ballast)
    await until('sends are taken again', async () => (await send()).status === 200, 60_000)
    const { baseUrl } = program
    await until('ready', async () => (await request(`${baseUrl}/health/ready`)).status === 200, 30_000)

    const db = createDb({ url: (await runningUrl(dataDir))!, connections: 1, log: silentLog })
    const rows = await db.query<{ id: string }>('select id from message')
    await db.close()
    const stored = new Set(rows.map(({ id }) => `msg_${id.replaceAll('-', '')}`))
    expect(told.filter((id) => !stored.has(id))).toEqual([])
  } finally {
    await program?.stop()
    if (isMounted) execFileSync('umount', ['-l', disk])
    await rm(folder, { recursive: true, force: true })
  }
}, 240_000)

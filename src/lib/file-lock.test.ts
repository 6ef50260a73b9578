import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { takeFileLock } from './file-lock.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pombo-lock-'))
  path = join(folder, 'a.lock')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

test('only one holder at a time, and the file stays empty', async () => {
  const first = takeFileLock(path)
  expect(first?.path).toBe(path)
  expect(takeFileLock(path)).toBeUndefined()
  expect((await stat(path)).size).toBe(0)
  first?.release()
  first?.release()
  const second = takeFileLock(path)
  expect(second).toBeDefined()
  second?.release()
})

test('kill -9 of the holder frees the lock', async () => {
  const script = `import { takeFileLock } from ${JSON.stringify(new URL('file-lock.ts', import.meta.url).href)}
    takeFileLock(${JSON.stringify(path)}); console.log('held'); setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script])
  await once(holder.stdout, 'data')
  expect(takeFileLock(path)).toBeUndefined()
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const lock = takeFileLock(path)
  expect(lock).toBeDefined()
  lock?.release()
})

test('a folder that is not there is named by the file system, not by SQLite', () => {
  expect(() => takeFileLock(join(folder, 'missing', 'a.lock'))).toThrow(/ENOENT/)
})

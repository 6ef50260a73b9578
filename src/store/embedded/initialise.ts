import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { serverFault } from './errors.ts'
import { giveTo, type Home } from './home.ts'
import { runTool } from './run-tool.ts'
import { LOCAL_CONF, MAIN_CONF, serverConf } from './settings.ts'

export const USER = 'pombo'
export const DATABASE = 'pombo'
/** Inside PostgreSQL's own folder, so that database and password come into being by the same rename. */
export const PASSWORD_FILE = 'pombo.password'

const INIT_TIMEOUT_MS = 180_000
const STAGING_PREFIX = 'initialising-'

/** Makes the database in a folder beside its final place and moves it there when it is whole. */
export async function initialise(options: {
  home: Home
  binaries: Binaries
  isDurable: boolean
  dataDir: string
}): Promise<void> {
  const { home, binaries } = options
  await removeLeftovers(home.folder)
  const staging = await mkdtemp(join(home.folder, STAGING_PREFIX))
  try {
    await giveTo(home.account, staging)
    await make(staging, options)
    await rename(join(staging, 'data'), home.data)
    if (options.isDurable) await syncFolder(home.folder)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  async function make(folder: string, { isDurable, dataDir }: typeof options): Promise<void> {
    const data = join(folder, 'data')
    const passwordFile = join(folder, 'password')
    await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 })
    await mkdir(data, { mode: 0o700 })
    await giveTo(home.account, passwordFile, data)
    const tool = async (file: string, args: string[], input?: string) => {
      const { code, output } = await runTool(file, args, {
        account: home.account,
        cwd: folder,
        input,
        timeoutMs: INIT_TIMEOUT_MS,
      })
      if (code !== 0) throw serverFault(output, { dataDir })
    }
    // The builtin provider sorts by code point and needs no locale of the machine: the same order everywhere.
    const locale = '--encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8'.split(' ')
    const access = [`--username=${USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
    await tool(binaries.initdb, ['-D', data, ...access, ...locale, '--no-sync', '--no-instructions'])
    const files = {
      'postgresql.conf': MAIN_CONF,
      'local.conf': LOCAL_CONF,
      'pombo.conf': serverConf({ socketDir: undefined, port: undefined, isDurable: false }),
    }
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(data, name), text, { mode: 0o600 })
      await giveTo(home.account, join(data, name))
    }
    await tool(binaries.postgres, ['--single', '-D', data, 'template1'], `CREATE DATABASE ${DATABASE}\n`)
    await rename(passwordFile, join(data, PASSWORD_FILE))
    await chmod(data, 0o700)
    if (isDurable) await tool(binaries.initdb, ['-D', data, '--sync-only'])
  }
}

export async function isInitialised(home: Pick<Home, 'data'>): Promise<boolean> {
  return stat(home.data).then(
    () => true,
    () => false,
  )
}

/** What a start that was killed half-way left behind. Its initdb may still be writing there: hence the retries. */
async function removeLeftovers(folder: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }
  for (const name of await readdir(folder)) {
    if (name.startsWith(STAGING_PREFIX)) await rm(join(folder, name), options)
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

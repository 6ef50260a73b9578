import { randomUUID } from 'node:crypto'
import { chmod, chown, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canReach, chooseAccount, isRoot, type Account } from './account.ts'
import { SHARED_HOME } from './binaries.ts'
import { EmbeddedError } from './errors.ts'

/** Where the database of one data folder lives. `data` is PostgreSQL's own folder, `run` holds its socket. */
export type Home = {
  folder: string
  data: string
  run: string
  logFile: string
  account: Account | undefined
  /** Outside of the data folder, because the account cannot reach that. */
  isMoved: boolean
}

/** In the data folder, naming the folder that holds the database instead. */
const MOVED_FILE = 'postgres-is-in'

export async function openHome(dataDir: string): Promise<Home> {
  const movedTo = await readMovedTo(dataDir)
  const existing = movedTo ?? join(dataDir, 'postgres')
  const account = isRoot() ? await chooseAccount(await ownerOf(join(existing, 'data'))) : undefined
  const folder = movedTo ?? (await chooseFolder(dataDir, account))
  const home: Home = { ...paths(folder), account, isMoved: folder !== join(dataDir, 'postgres') }
  await mkdir(home.folder, { recursive: true, mode: account ? 0o711 : 0o700 })
  await mkdir(home.run, { recursive: true, mode: 0o700 })
  await giveTo(account, home.run)
  return home
}

/** The same without making anything, for commands that look for a server that already runs. */
export async function findHome(dataDir: string): Promise<Pick<Home, 'folder' | 'data' | 'run'>> {
  return paths((await readMovedTo(dataDir)) ?? join(dataDir, 'postgres'))
}

export async function giveTo(account: Account | undefined, ...files: string[]): Promise<void> {
  if (!account) return
  for (const file of files) {
    await chown(file, account.uid, account.gid).catch((error: NodeJS.ErrnoException) => {
      const text = `PostgreSQL must not run as root, and ${file} cannot be given to the user ${account.name} (${error.code}): start Pombo as another user, or set DATABASE_URL.`
      throw new EmbeddedError('no_account', text, { cause: error })
    })
  }
}

function paths(folder: string) {
  return {
    folder,
    data: join(folder, 'data'),
    run: join(folder, 'run'),
    logFile: join(folder, 'postgres.log'),
  }
}

async function chooseFolder(dataDir: string, account: Account | undefined): Promise<string> {
  const usual = join(dataDir, 'postgres')
  if (!account) return usual
  await letThrough(dataDir, account)
  if (await canReach(account, dataDir)) return usual
  if (await exists(join(usual, 'data'))) {
    const text = `The database in ${usual} can no longer be reached by the user ${account.name} that PostgreSQL runs as: let others pass through the folders above it (chmod o+x).`
    throw new EmbeddedError('not_writable', text)
  }
  const elsewhere = join(SHARED_HOME, randomUUID())
  // Written first: a start that dies here finds the same folder again and goes on in it.
  const file = join(dataDir, MOVED_FILE)
  await writeFile(`${file}.new`, `${elsewhere}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
  return elsewhere
}

/** A data folder that root keeps to itself (mode 0700, as mktemp makes it) is opened for passing through, to the account's group only. */
async function letThrough(dataDir: string, account: Account): Promise<void> {
  const facts = await stat(dataDir)
  if (facts.uid !== 0 || (facts.mode & 0o077) !== 0) return
  await chown(dataDir, 0, account.gid)
  await chmod(dataDir, 0o710)
}

async function readMovedTo(dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, MOVED_FILE), 'utf8').catch(() => '')
  return text.trim() || undefined
}

async function exists(path: string): Promise<boolean> {
  return (await ownerOf(path)) !== undefined
}

async function ownerOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    (facts) => facts.uid,
    () => undefined,
  )
}

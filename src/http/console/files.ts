/** The built console on disk: which files there are, and in which encodings. Found anew when it was built anew. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

export type Encoding = 'br' | 'gzip'

export type BuiltFile = {
  path: string
  type: string
  etag: string
  /** Its name carries a hash of its content. */
  isImmutable: boolean
  encodings: readonly Encoding[]
}

export type Build = { html: string; files: ReadonlyMap<string, BuiltFile> }

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  map: 'application/json; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
  woff2: 'font/woff2',
}

export const extensions: Record<Encoding, string> = { br: '.br', gzip: '.gz' }

/** Gives the build, or undefined while there is none. One look at the page's file per call, the rest is remembered. */
export function createBuildReader(folder: string): () => Promise<Build | undefined> {
  let found: { mtimeMs: number; build: Build } | undefined
  return async () => {
    const page = join(folder, 'index.html')
    const facts = await stat(page).catch(() => undefined)
    if (facts === undefined) return undefined
    if (found?.mtimeMs !== facts.mtimeMs)
      found = {
        mtimeMs: facts.mtimeMs,
        build: { html: await readFile(page, 'utf8'), files: await listFiles(folder) },
      }
    return found.build
  }
}

async function listFiles(folder: string): Promise<Map<string, BuiltFile>> {
  const names = await readdir(folder, { recursive: true })
  const all = new Set(names)
  const files = new Map<string, BuiltFile>()
  for (const name of names) {
    const type = types[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined || name === 'index.html' || /(^|[/\\])\./.test(name)) continue
    const path = join(folder, name)
    const facts = await stat(path).catch(() => undefined)
    if (!facts?.isFile()) continue
    const address = `/${name.split(sep).join('/')}`
    files.set(address, {
      path,
      type,
      etag: `"${facts.size.toString(36)}-${Math.round(facts.mtimeMs).toString(36)}"`,
      isImmutable: address.startsWith('/assets/'),
      encodings: (['br', 'gzip'] as const).filter((encoding) => all.has(name + extensions[encoding])),
    })
  }
  return files
}

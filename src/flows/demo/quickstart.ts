/** `quickstart.json` in the data folder: everything a first caller needs, secrets included, for the owner's eyes only. */
import { randomUUID } from 'node:crypto'
import { open, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { mediaPath, readMediaUrl } from '../../domain/media.ts'
import type { Channel } from '../../domain/channel.ts'
import type { TemplateKind } from '../../domain/template.ts'

export type PhoneInTwo = { countryCode: number; phoneNumber: number }

export type Quickstart = {
  unified: {
    baseUrl: string
    company: string
    username: string
    password: string
    platformPrivateToken: string
  }
  direct: { baseUrl: string; token: string; callbackSecret: string }
  console: { url: string; company: string; username: string; password: string }
  lines: {
    channel: Channel
    countryCode?: number
    phoneNumber?: number
    email?: string
    prospect: boolean
    default: boolean
  }[]
  templates: {
    name: string
    code: string
    channel: Channel
    kind: TemplateKind
    variables: string[]
    headerVariable?: string
    cards?: number
  }[]
  segments: { name: string; clientCode: string }[]
  attendants: string[]
  contacts: { windowOpen: PhoneInTwo; inAttendance: PhoneInTwo }
  restricted: { phone: string; lists: number }
  media: { url: string }[]
  sandbox: { url: string }
}

/** Where the surfaces of this start answer, without a trailing slash. */
export type Addresses = { unified: string; direct: string; console: string; sandbox?: string }

export const quickstartFile = (dataDir: string): string => join(dataDir, 'quickstart.json')

/** Undefined when this data folder has none: the demo was made by another node, or not at all. */
export async function readQuickstart(dataDir: string): Promise<Quickstart | undefined> {
  const text = await readFile(quickstartFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : (JSON.parse(text) as Quickstart)
}

/** Complete on disk before it has its name: whoever reads it never sees half of it. */
export async function writeQuickstart(dataDir: string, quickstart: Quickstart): Promise<void> {
  const unfinished = `${quickstartFile(dataDir)}.${randomUUID()}`
  const file = await open(unfinished, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(quickstart, undefined, 2)}\n`)
    await file.sync()
    await file.close()
    await rename(unfinished, quickstartFile(dataDir))
  } catch (error) {
    await file.close().catch(() => {})
    await unlink(unfinished).catch(() => {})
    throw error
  }
}

export function withAddresses(quickstart: Quickstart, addresses: Addresses): Quickstart {
  return {
    ...quickstart,
    unified: { ...quickstart.unified, baseUrl: addresses.unified },
    direct: { ...quickstart.direct, baseUrl: addresses.direct },
    console: { ...quickstart.console, url: addresses.console },
    media: quickstart.media.map(({ url }) => {
      const item = readMediaUrl(url)
      return { url: item ? addresses.unified + mediaPath(item) : url }
    }),
    sandbox: { url: addresses.sandbox ?? quickstart.sandbox.url },
  }
}

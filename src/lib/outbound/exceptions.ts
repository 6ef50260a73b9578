/** Addresses that an operator allows although the guard would not: `callbacks=localhost:9000, files=10.0.0.5:80`. */
import { bareName } from './judge-url.ts'

export const purposes = ['callbacks', 'files', 'brokers'] as const
export type Purpose = (typeof purposes)[number]

export type Exceptions = { allows(purpose: Purpose, hostname: string, port: number): boolean }

export type ExceptionsReading = { ok: true; exceptions: Exceptions } | { ok: false; reason: string }

const entryForm = /^([a-z]+)=(.+):(\d{1,5})$/

/** Each entry `purpose=host:port`; the port is always written, also 80 and 443. */
export function readExceptions(entries: readonly string[]): ExceptionsReading {
  const allowed = new Set<string>()
  for (const entry of entries) {
    const [, name, host, portText] = entryForm.exec(entry.trim()) ?? []
    const purpose = purposes.find((known) => known === name)
    const hostname = URL.parse(`http://${host}:1/`)?.hostname
    const port = Number(portText)
    if (purpose === undefined || !hostname || !(port >= 1 && port <= 65_535)) {
      return {
        ok: false,
        reason: `"${entry}" is not written purpose=host:port (purposes: ${purposes.join(', ')})`,
      }
    }
    allowed.add(`${purpose}=${bareName(hostname)}:${port}`)
  }
  return {
    ok: true,
    exceptions: {
      allows: (purpose, hostname, port) => allowed.has(`${purpose}=${bareName(hostname)}:${port}`),
    },
  }
}

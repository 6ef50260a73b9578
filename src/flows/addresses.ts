/** Where the surfaces of this node answer, for people and programs: without a trailing slash. */
import type { Addresses } from './demo/quickstart.ts'

export type AddressFacts = {
  host: string
  port: number
  directPort: number | undefined
  consolePort: number | undefined
  publicUrl: string | undefined
  tls: object | undefined
}

/** An address that means "all of them" is none that can be called. */
const callable: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export function addressesOf(facts: AddressFacts): Addresses {
  const host = callable[facts.host] ?? facts.host
  const at = (port: number) =>
    `${facts.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
  const main = facts.publicUrl ?? at(facts.port)
  return {
    unified: main,
    direct: facts.directPort ? at(facts.directPort) : main,
    console: facts.consolePort ? at(facts.consolePort) : main,
  }
}

/** Loopback only, and a free port when the wished one is taken and was not insisted on. */
import type { AddressInfo, Server } from 'node:net'

export type Place = { host: string; port: number; isPortFixed: boolean }

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)

export async function openAt<Opened>(place: Place, open: (port: number) => Promise<Opened>): Promise<Opened> {
  const { host, port, isPortFixed } = place
  if (!isLoopback(host)) {
    throw new Error(`The sandbox listens on loopback only (127.0.0.1, ::1, localhost), not on ${host}.`)
  }
  try {
    return await open(port)
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EADDRINUSE' || port === 0) throw fault
    if (isPortFixed)
      throw new Error(`Port ${port} of ${host} is taken. Give the sandbox another one.`, { cause: fault })
    return await open(0)
  }
}

export const listen = (server: Server, place: Place): Promise<number> =>
  openAt(
    place,
    (port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, place.host, () => {
          server.removeListener('error', reject)
          resolve((server.address() as AddressInfo).port)
        })
      }),
  )

import { createServer } from 'node:net'

/** A port that cannot be had; the message is for the person at the terminal. */
export class PortError extends Error {}

/**
 * Looks whether the port can be had before anything else is started, and finds a number for 0: children that are
 * started again later must come back on the same one.
 */
export function claimPort(setting: string, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new PortError(explain(setting, host, port, error))),
    )
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port))
    })
  })
}

function explain(setting: string, host: string, port: number, error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') {
    return `Port ${port} on ${host} is taken: stop the program that listens there, or set ${setting} to another port.`
  }
  if (error.code === 'EACCES') {
    return `Port ${port} on ${host} is not allowed for this user: set ${setting} to a port above 1023.`
  }
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(error.code ?? '')) {
    return `${host} is no address of this machine: correct POMBO_HOST.`
  }
  return `Cannot listen on ${host}, port ${port} (${error.code}): correct POMBO_HOST and ${setting}.`
}

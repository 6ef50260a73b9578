/** The integrator's side of callbacks: counts what it took, by message, and behaves as its mood is. */
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export const receiverMoods = ['well', 'hangs', 'resets', 'answers garbage', 'answers 500'] as const
export type ReceiverMood = (typeof receiverMoods)[number]

export type Receiver = {
  url: string
  port: number
  /** Ids of messages that it was told of. */
  toldOf: Set<string>
  count(): number
  setMood(mood: ReceiverMood): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const toldOf = new Set<string>()
  const sockets = new Set<Socket>()
  let mood: ReceiverMood = 'well'
  let count = 0
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { data: { messageId: string } }
      toldOf.add(data.messageId)
      count++
      switch (mood) {
        case 'hangs':
          return
        case 'resets':
          return void request.socket.resetAndDestroy()
        case 'answers garbage':
          return void request.socket.end('220 mail.example.com\r\n')
        case 'answers 500':
          return void response.writeHead(500).end()
        case 'well':
          return void response.writeHead(204).end()
      }
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    toldOf,
    count: () => count,
    setMood(next) {
      if (mood === 'hangs') for (const socket of sockets) socket.destroy()
      mood = next
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

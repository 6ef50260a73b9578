/**
 * What Pombo is compared with, each in a process of its own: a bare `node:http` server that parses and
 * re-serialises the body, and one that stores it with one INSERT per request and no rules.
 */
import { createServer } from 'node:http'
import pg from 'pg'

const [kind, url] = process.argv.slice(2)

const pool = kind === 'one-insert' ? new pg.Pool({ connectionString: url, max: 16 }) : undefined
pool?.on('error', () => {})
// Left to itself PostgreSQL would sort its documents for statistics in the seconds after, while Pombo is measured.
await pool?.query(
  'create table if not exists bench_message (id uuid primary key default gen_random_uuid(), body jsonb not null, at timestamptz not null default now()) with (autovacuum_enabled = false)',
)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const answer = (text: string) => {
      response.setHeader('content-type', 'application/json')
      response.end(text)
    }
    if (pool === undefined) return answer(JSON.stringify(body))
    pool
      .query<{ id: string }>({
        name: 'store',
        text: 'insert into bench_message (body) values ($1) returning id',
        values: [body],
      })
      .then(({ rows }) => answer(JSON.stringify({ messageId: rows[0]!.id, status: 'queued' })))
      .catch((error: unknown) => {
        response.statusCode = 500
        answer(JSON.stringify({ message: String(error) }))
      })
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : 0 })}\n`)
})
// Whoever started us is gone.
process.stdin.resume().on('end', () => process.exit(0))
process.on('SIGTERM', () => process.exit(0))

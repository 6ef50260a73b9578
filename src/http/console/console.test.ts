import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { serve } from '../test-server.ts'
import { createConsoleSurface } from './index.ts'

let folder: string
const script = 'const greeting = "hello"\n'.repeat(100)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pombo-dist-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function build(): Promise<void> {
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<meta property="csp-nonce" nonce="__CSP_NONCE__">first')
  await writeFile(join(folder, 'assets', 'index-abc.js'), script)
  await writeFile(join(folder, 'assets', 'index-abc.js.br'), brotliCompressSync(script))
  await writeFile(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await writeFile(join(folder, '.source-hash'), 'secret')
}

async function start() {
  const { addresses } = await serve({ console: [createConsoleSurface({ folder })] })
  return (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${addresses.console}${path}`, { method, headers })
}

test('without a build the page says how to make one, and finds it as soon as it is there', async () => {
  const get = await start()
  const missing = await get('/')
  expect(missing.status).toBe(503)
  expect(await missing.text()).toContain('npx vite build console')
  await build()
  expect((await get('/')).status).toBe(200)
})

test('every address of a page gives the page, with a policy and a nonce of its own', async () => {
  await build()
  const get = await start()
  const [first, second] = [await get('/'), await get('/messages/msg_1?x=y')]
  for (const answer of [first, second]) {
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    const policy = answer.headers.get('content-security-policy') ?? ''
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1]
    expect(await answer.text()).toBe(`<meta property="csp-nonce" nonce="${nonce}">first`)
    expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/script-src[^;]*unsafe/)
  }
  expect(first.headers.get('content-security-policy')).not.toBe(second.headers.get('content-security-policy'))
})

test('a newer build is served without a restart', async () => {
  await build()
  const get = await start()
  expect(await (await get('/')).text()).toContain('first')
  await writeFile(join(folder, 'index.html'), 'second')
  await utimes(join(folder, 'index.html'), new Date(), new Date(Date.now() + 5_000))
  expect(await (await get('/')).text()).toBe('second')
})

test('files come packed, may be kept for ever when their name has a hash, and are not sent twice', async () => {
  await build()
  const get = await start()
  const packed = await get('/assets/index-abc.js', { 'accept-encoding': 'gzip, br' })
  expect(packed.headers.get('content-encoding')).toBe('br')
  expect(packed.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(packed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(packed.headers.get('vary')).toBe('accept-encoding')
  expect(await packed.text()).toBe(script)
  const plain = await get('/assets/index-abc.js', { 'accept-encoding': 'br;q=0, identity' })
  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(await plain.text()).toBe(script)
  const again = await get('/assets/index-abc.js', { 'if-none-match': packed.headers.get('etag')! })
  expect(again.status).toBe(304)
  expect((await get('/favicon.svg')).headers.get('cache-control')).toBe('no-cache')
})

test.each([
  '/v1/nothing',
  '/admin/v1/nothing',
  '/assets/gone.js',
  '/assets/index-abc.js.br',
  '/health/nothing',
  '/docs/nothing',
  '/hooks/x',
])('%s stays a plain 404', async (path) => {
  await build()
  const get = await start()
  const answer = await get(path)
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({ message: 'not found' })
})

test.each([
  '/.source-hash',
  '/../package.json',
  '/..%2f..%2fpackage.json',
  '/assets/..%2f.source-hash',
  '/%00',
])('%s gives no file from outside and no hidden one', async (path) => {
  await build()
  const get = await start()
  const text = await (await get(path)).text()
  expect(text).not.toContain('secret')
  expect(text).not.toContain('devDependencies')
})

test('what is no GET is not found', async () => {
  await build()
  const get = await start()
  expect((await get('/', {}, 'POST')).status).toBe(404)
  const head = await get('/', {}, 'HEAD')
  expect([head.status, await head.text()]).toEqual([200, ''])
})

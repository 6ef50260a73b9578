import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const server = process.env['POMBO_DEV_SERVER'] ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [react(), packed()],
  // Replaced by a fresh one in every page that the server sends (src/http/console).
  html: { cspNonce: '__CSP_NONCE__' },
  build: { target: 'es2022', sourcemap: false, assetsInlineLimit: 0, chunkSizeWarningLimit: 700 },
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      // `/media` is a page of the console; `/media/…` with a file's name is the server's.
      ['/admin', '/docs', '/v1', '^/media/.+\\..+'].map((path) => [path, { target: server }]),
    ),
  },
})

const smallestPacked = 1024

/** Writes each text also in the two encodings of browsers, once per build instead of once per request. */
function packed(): Plugin {
  return {
    name: 'pombo-packed',
    apply: 'build',
    async writeBundle({ dir = 'dist' }) {
      const names = await readdir(dir, { recursive: true })
      for (const name of names.filter((one) => /\.(css|js|json|svg)$/.test(one))) {
        const path = join(dir, name)
        const bytes = await readFile(path)
        if (bytes.length < smallestPacked) continue
        const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
        await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }))
        await writeFile(`${path}.gz`, await promisify(gzip)(bytes))
      }
    },
  }
}

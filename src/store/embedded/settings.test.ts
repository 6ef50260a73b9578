import { expect, test } from 'vitest'
import { serverConf } from './settings.ts'

const GIB = 1024 ** 3
const usual = { socketDir: '/run/it', port: undefined, isDurable: true }

test.each([
  { memoryGib: 0.25, buffers: '32MB' },
  { memoryGib: 1, buffers: '128MB' },
  { memoryGib: 2, buffers: '256MB' },
  { memoryGib: 64, buffers: '256MB' },
])('$memoryGib GiB of memory give shared_buffers of $buffers', ({ memoryGib, buffers }) => {
  expect(serverConf(usual, memoryGib * GIB)).toContain(`shared_buffers = ${buffers}\n`)
})

test('a commit is on disk unless a test says otherwise', () => {
  const durable = serverConf(usual)
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    expect(durable).toContain(`\n${name} = on\n`)
    expect(serverConf({ ...usual, isDurable: false })).toContain(`\n${name} = off\n`)
  }
})

test('on a socket no TCP port is open, and a quote in its path stays a quote', () => {
  const conf = serverConf({ ...usual, socketDir: "/home/o'hara/run" })
  expect(conf).toContain("listen_addresses = ''\n")
  expect(conf).toContain("unix_socket_directories = '/home/o''hara/run'\n")
  expect(serverConf({ ...usual, socketDir: undefined, port: 5555 })).toContain(
    "listen_addresses = '127.0.0.1'\nport = 5555\n",
  )
})

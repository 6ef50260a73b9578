import { totalmem } from 'node:os'

export type ServerSettings = {
  /** Where the Unix socket goes; undefined where there are none. */
  socketDir: string | undefined
  /** Loopback port; undefined: socket only. */
  port: number | undefined
  isDurable: boolean
}

/** The port names the socket's file even when no TCP port is open. */
export const SOCKET_PORT = 5432

const MIB = 1024 * 1024

/**
 * Written anew at every start as pombo.conf, so that an upgrade of Pombo brings its settings along. local.conf is
 * the operator's and is read after it.
 */
export function serverConf(settings: ServerSettings, memoryBytes = usableMemory()): string {
  const memoryMb = Math.floor(memoryBytes / MIB)
  const values: Record<string, string | number> = {
    cluster_name: quote('pombo'),
    listen_addresses: quote(settings.port === undefined ? '' : '127.0.0.1'),
    port: settings.port ?? SOCKET_PORT,
    unix_socket_directories: quote(settings.socketDir ?? ''),
    unix_socket_permissions: '0700',
    // Four serving processes and a worker with ten connections each, the command line, and room for a person.
    max_connections: 100,
    max_locks_per_transaction: 256,

    shared_buffers: `${clamp(Math.floor(memoryMb / 8), 32, 256)}MB`,
    effective_cache_size: `${Math.max(Math.floor(memoryMb / 2), 64)}MB`,
    work_mem: '8MB',
    maintenance_work_mem: `${clamp(Math.floor(memoryMb / 16), 32, 128)}MB`,
    random_page_cost: 1.1,
    jit: 'off',
    // Parallel plans live in /dev/shm, which a container limits to 64 MB, and take the cores that serve requests.
    max_parallel_workers_per_gather: 0,
    max_parallel_maintenance_workers: 0,

    fsync: settings.isDurable ? 'on' : 'off',
    synchronous_commit: settings.isDurable ? 'on' : 'off',
    full_page_writes: settings.isDurable ? 'on' : 'off',
    // Nothing replicates from the embedded server; `pombo backup` reads by COPY.
    wal_level: 'minimal',
    max_wal_senders: 0,
    // The npm binaries are built without lz4, and pglz costs more processor time than the bytes are worth here.
    wal_compression: 'off',
    wal_buffers: '16MB',
    // Rare checkpoints write fewer full pages; 2 GB of log is also the most that a crash has to replay.
    max_wal_size: '2GB',
    min_wal_size: '128MB',
    checkpoint_timeout: '15min',

    // Queue tables turn over in seconds: look often, clean early, and do not dawdle.
    autovacuum_naptime: '10s',
    autovacuum_vacuum_scale_factor: 0.05,
    autovacuum_vacuum_cost_limit: 1000,

    timezone: quote('UTC'),
    log_timezone: quote('UTC'),
    logging_collector: 'off',
    log_destination: quote('stderr'),
    log_line_prefix: quote('%m [%p] %q%a '),
    // Statements carry personal data; their text stays out of the log.
    log_min_error_statement: 'panic',
    log_parameter_max_length_on_error: 0,
  }
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${value}`)
  return ['# Written by Pombo at every start: put your own settings into local.conf.', ...lines, ''].join(
    '\n',
  )
}

/** postgresql.conf itself never changes after initialisation. */
export const MAIN_CONF = [
  '# pombo.conf is written by Pombo at every start. Your own settings go into local.conf beside it and win.',
  "include 'pombo.conf'",
  "include_if_exists 'local.conf'",
  '',
].join('\n')

export const LOCAL_CONF = '# Your own settings for the embedded PostgreSQL; they win over pombo.conf.\n'

function usableMemory(): number {
  // A container's limit; without one Node answers 0 or a number past the machine's memory.
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

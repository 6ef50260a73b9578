/** A real PostgreSQL that Pombo brings along, starts, watches and stops. */
export { lockDataDir, openDataDir } from './data-dir.ts'
export { EmbeddedError, type EmbeddedFault } from './errors.ts'
export type { EmbeddedExit, EmbeddedLog } from './server-process.ts'
export { runningUrl, startEmbedded, type EmbeddedOptions, type EmbeddedPostgres } from './start.ts'

/** How a driver finds the bytes of a file that the content refers to. */
import type { FileRef } from '../domain/message.ts'
import type { FileBytes, OutgoingMessage } from './driver.ts'

/** The key in `OutgoingMessage.files`. */
export const fileKey = (file: FileRef): string =>
  file.source.kind === 'stored' ? file.source.hash : file.source.url

/** Whoever dispatches brings every file along; one that is missing is a fault of ours. */
export function fileOf(message: OutgoingMessage, file: FileRef): FileBytes {
  const found = message.files.get(fileKey(file))
  if (found === undefined) throw new Error(`The bytes of ${file.name} are not at hand.`)
  // The same bytes may go under two names: name and type are the reference's own.
  return { bytes: found.bytes, name: file.name, mimeType: file.mimeType }
}

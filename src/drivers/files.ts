/** How a driver finds the bytes of a file that the content refers to. */
import type { FileRef } from '../domain/message.ts'
import type { FileBytes, OutgoingMessage } from './driver.ts'

/** The key in `OutgoingMessage.files`. */
export const fileKey = (file: FileRef): string =>
  file.source.kind === 'stored' ? file.source.hash : file.source.url

/** What the recipient sees and may save it as: a name, never a way to a folder. */
export const fileName = ({ name }: Pick<FileRef, 'name'>): string =>
  name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)

/** Whoever dispatches brings every file along; one that is missing is a fault of ours. */
export function fileOf(message: OutgoingMessage, file: FileRef): FileBytes {
  const found = message.files.get(fileKey(file))
  if (found === undefined) throw new Error(`The bytes of ${file.name} are not at hand.`)
  // The same bytes may go under two names: name and type are the reference's own.
  return { bytes: found.bytes, name: fileName(file), mimeType: file.mimeType }
}

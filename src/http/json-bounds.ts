/**
 * A body of 32 MiB that is nothing but brackets becomes gigabytes of objects when it is parsed. Large bodies are
 * therefore looked through before: they may be large by their texts (files in base64), not by the number of values.
 */
const scannedAboveBytes = 256 * 1024
const maxValues = 200_000

const quote = 0x22
const backslash = 0x5c
const isValueMark = new Uint8Array(256)
for (const mark of '[{,') isValueMark[mark.charCodeAt(0)] = 1

export function isWithinJsonBounds(bytes: Buffer): boolean {
  if (bytes.length <= scannedAboveBytes) return true
  let values = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!
    if (byte === quote) {
      index = endOfText(bytes, index)
      if (index < 0) return true // not JSON at all: the parser says so
    } else if (isValueMark[byte] === 1 && ++values > maxValues) return false
  }
  return true
}

/** The place of the quote that ends the text; -1 when there is none. `indexOf` skips megabytes at once. */
function endOfText(bytes: Buffer, start: number): number {
  let end = start
  do {
    end = bytes.indexOf(quote, end + 1)
    if (end < 0) return -1
  } while (isEscaped(bytes, end))
  return end
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let backslashes = 0
  while (bytes[at - 1 - backslashes] === backslash) backslashes++
  return backslashes % 2 === 1
}

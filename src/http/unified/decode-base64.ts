const dataUrlPrefix = /^data:[^,]{0,255};base64,/i
const alphabet = /^[A-Za-z0-9+/]*={0,2}$/
const lineBreaks = /[\r\n\t ]+/g

/** The bytes, or what is wrong. Line breaks (as MIME has them) and missing padding are fine, nothing else is. */
export function decodeBase64(text: string): Uint8Array | string {
  const prefix = dataUrlPrefix.exec(text.slice(0, 300))?.[0] ?? ''
  let encoded = prefix === '' ? text : text.slice(prefix.length)
  if (!alphabet.test(encoded)) encoded = encoded.replace(lineBreaks, '')
  if (!alphabet.test(encoded)) return 'must be base64'
  const padding = encoded.endsWith('==') ? 2 : encoded.endsWith('=') ? 1 : 0
  const digits = encoded.length - padding
  if (digits % 4 === 1 || (padding > 0 && encoded.length % 4 !== 0)) return 'must be base64'
  if (digits === 0) return 'must not be empty'
  // Memory of its own, not a slice of Node's pool, so that a worker thread can hand it over.
  const bytes = new Uint8Array(Math.floor((digits * 3) / 4))
  Buffer.from(bytes.buffer).write(encoded, 'base64')
  return bytes
}

import { hashToken } from './secrets.ts'

/** Longer texts are no tokens of ours and would only fill the memory. */
const maxLength = 256

/**
 * SHA-256 of tokens that come again and again: 0.1 µs instead of 5. It remembers the hash of a text, not whether
 * it is a valid token; that is asked of the database each time.
 */
export function rememberHashes(limit = 512): (token: string) => Buffer {
  const hashes = new Map<string, Buffer>()
  return (token) => {
    const known = hashes.get(token)
    if (known !== undefined) return known
    const hash = hashToken(token)
    if (token.length > maxLength) return hash
    if (hashes.size >= limit) hashes.delete(hashes.keys().next().value!)
    hashes.set(token, hash)
    return hash
  }
}

import { createHash } from 'node:crypto'

const hashed = /^sha256:([0-9a-f]{64})$/i

/** Whether the key is stored as `sha256:` and a hash. */
export function isHashedKey(key: string): boolean {
  return hashed.test(key)
}

/** The SHA-256 of a key, stored as text or as a hash. */
export function hashOfKey(key: string): Buffer {
  const hex = hashed.exec(key)?.[1]
  return hex === undefined ? hashOfPresentedKey(key) : Buffer.from(hex, 'hex')
}

/** The SHA-256 of a key that a client sent: a hash is not accepted in place of its key. */
export function hashOfPresentedKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

import { createHash } from 'node:crypto'

const hashed = /^sha256:([0-9a-f]{64})$/i

/** Whether a key is written as `sha256:` and the hash of it, so that nobody reads it from where it is written. */
export function isHashedKey(key: string): boolean {
  return hashed.test(key)
}

/** The SHA-256 of a key, however it is written. */
export function hashOfKey(key: string): Buffer {
  const hex = hashed.exec(key)?.[1]
  return hex === undefined ? hashOfPresentedKey(key) : Buffer.from(hex, 'hex')
}

/** The same of a key as somebody sends it: nobody gets in with the hash. */
export function hashOfPresentedKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

import { randomFillSync } from 'node:crypto'

export type IdPrefix =
  | 'ses'
  | 'run'
  | 'msg'
  | 'doc'
  | 'chk'
  | 'call'
  | 'req'
  | 'own'
  | 'srv'
  | 'step'
  | 'aud'
  | 'erased'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const randomCharacters = 12
const pool = new Uint8Array(randomCharacters * 256)
let poolAt = pool.length
let lastTime = -1
let lastTimeText = ''
let count = 0

/** `prefix_` and 26 characters: time in ms (10), counter (4), random (12). Sorts by creation in a process. */
export function createId(prefix: IdPrefix, now: number = Date.now()): string {
  if (now !== lastTime) {
    lastTime = now
    lastTimeText = encode(now, 10)
    count = 0
  }
  if (poolAt === pool.length) {
    randomFillSync(pool)
    poolAt = 0
  }
  let text = `${prefix}_${lastTimeText}${encode(count++, 4)}`
  for (const end = poolAt + randomCharacters; poolAt < end; poolAt++) text += alphabet[(pool[poolAt] ?? 0) & 31]
  return text
}

function encode(value: number, places: number): string {
  let text = ''
  for (let rest = value, place = 0; place < places; place++) {
    text = alphabet[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

const sessionId = /^[A-Za-z0-9._:-]{1,128}$/

/** Whether a caller may use this text as a `session_id` or an A2A `contextId`. */
export function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && sessionId.test(value)
}

/** `file_` and 26 random characters (130 bits): it can't be guessed. */
export function createFileId(): string {
  const bytes = randomFillSync(new Uint8Array(26))
  let text = 'file_'
  for (const byte of bytes) text += alphabet[byte & 31]
  return text
}

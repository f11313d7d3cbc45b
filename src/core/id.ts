import { randomFillSync } from 'node:crypto'

export type IdPrefix = 'ses' | 'run' | 'msg' | 'doc' | 'chk' | 'call' | 'req' | 'own' | 'step'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const pool = new Uint8Array(16 * 256)
let poolAt = pool.length
let lastTime = 0
let lastTimeText = ''

/** `prefix_` and 26 characters: 10 of time in milliseconds, 16 random; ids sort by their time of making. */
export function createId(prefix: IdPrefix, now: number = Date.now()): string {
  if (now !== lastTime) {
    lastTime = now
    lastTimeText = encodeTime(now)
  }
  if (poolAt === pool.length) {
    randomFillSync(pool)
    poolAt = 0
  }
  let text = `${prefix}_${lastTimeText}`
  for (const end = poolAt + 16; poolAt < end; poolAt++) text += alphabet[(pool[poolAt] ?? 0) & 31]
  return text
}

function encodeTime(time: number): string {
  let text = ''
  for (let rest = time, place = 0; place < 10; place++) {
    text = alphabet[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

const sessionId = /^[A-Za-z0-9._:-]{1,128}$/

/** Whether a caller may use this text as a `session_id` (an A2A `contextId` likewise). */
export function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && sessionId.test(value)
}

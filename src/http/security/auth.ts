import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/error.ts'

/** An API key, and the user whose sessions and runs are all that it may see; without one it may see all. */
export interface AuthKey {
  key: string
  userId?: string | undefined
}

export interface Caller {
  /** `key:<number>`. */
  caller: string
  userId: string | undefined
}

/** Says who calls; throws `unauthorized`. */
export type Authenticate = (headers: IncomingHttpHeaders) => Caller

/** Undefined when there are no keys: everybody is `anonymous`. Keys are kept as digests only. */
export function createAuthenticate(keys: readonly AuthKey[]): Authenticate | undefined {
  if (keys.length === 0) return undefined
  const callers = keys.map(({ key, userId }, index) => ({
    known: digest(key),
    caller: { caller: `key:${index}`, userId },
  }))
  return (headers) => {
    const presented = presentedKeys(headers)
    let found: Caller | undefined
    for (const key of presented) {
      const candidate = digest(key)
      // Every key is compared, so that the time taken says nothing about which one came close.
      for (const { known, caller } of callers) if (timingSafeEqual(candidate, known)) found ??= caller
    }
    if (found !== undefined) return found
    const problem = presented.length === 0 ? 'This server needs an API key' : 'The API key is not known'
    throw new AppError('unauthorized', `${problem}: send it as 'Authorization: Bearer …' or 'X-API-Key: …'.`)
  }
}

function presentedKeys(headers: IncomingHttpHeaders): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const key = headers['x-api-key']
  return [...(bearer === undefined ? [] : [bearer]), ...(typeof key === 'string' ? [key] : [])]
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/error.ts'

/** Who calls (`key:<number>`); throws `unauthorized`. */
export type Authenticate = (headers: IncomingHttpHeaders) => string

/** Undefined when there are no keys: everybody is `anonymous`. Keys are kept as digests only. */
export function createAuthenticate(keys: readonly string[]): Authenticate | undefined {
  if (keys.length === 0) return undefined
  const digests = keys.map(digest)
  return (headers) => {
    const presented = presentedKeys(headers)
    let caller: string | undefined
    for (const key of presented) {
      const candidate = digest(key)
      // Every key is compared, so that the time taken says nothing about which one came close.
      for (const [index, known] of digests.entries()) if (timingSafeEqual(candidate, known)) caller ??= `key:${index}`
    }
    if (caller !== undefined) return caller
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

import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { hashOfKey, hashOfPresentedKey } from '../../core/api-key.ts'
import { AppError } from '../../core/error.ts'
import type { Scope } from '../../core/scope.ts'

/** An API key and what may be done with it. */
export interface AuthKey {
  /** The key, or `sha256:` and the hash of it in hexadecimal digits. */
  key: string
  /** What the log calls it; default `key:` and its place in the list. */
  id?: string | undefined
  /** The user whose sessions and runs are all that it may see; without one it may see all. */
  userId?: string | undefined
  /** Undefined: all. */
  scopes?: readonly Scope[] | undefined
}

export interface Caller {
  /** The key's id. */
  caller: string
  userId: string | undefined
  scopes: ReadonlySet<Scope> | undefined
}

/** Says who calls; throws `unauthorized`. */
export type Authenticate = (headers: IncomingHttpHeaders) => Caller

/** Undefined when there are no keys: everybody is `anonymous`. Keys are kept as digests only. */
export function createAuthenticate(keys: readonly AuthKey[]): Authenticate | undefined {
  if (keys.length === 0) return undefined
  const callers = keys.map(({ key, id, userId, scopes }, index) => ({
    known: hashOfKey(key),
    caller: { caller: id ?? `key:${index}`, userId, scopes: scopes && new Set(scopes) },
  }))
  return (headers) => {
    const presented = presentedKeys(headers)
    let found: Caller | undefined
    for (const key of presented) {
      const candidate = hashOfPresentedKey(key)
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

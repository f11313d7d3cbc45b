import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { hashOfKey, hashOfPresentedKey } from '../../core/access/api-key.ts'
import type { Scope } from '../../core/access/scope.ts'
import { AppError } from '../../core/error.ts'

export interface AuthKey {
  /** The key, or `sha256:` and its hash in hexadecimal digits. */
  key: string
  /** Its name in the log; default `key:` and its index in the list. */
  id?: string | undefined
  /** The key may see only this user's sessions and runs; without a user, all of them. */
  userId?: string | undefined
  /** Undefined: all. */
  scopes?: readonly Scope[] | undefined
}

export interface Caller {
  caller: string
  userId: string | undefined
  scopes: ReadonlySet<Scope> | undefined
}

export interface Authenticator {
  /** Finds the key of the request; undefined without a key or with a wrong one. */
  identify(headers: IncomingHttpHeaders): Caller | undefined
}

/** Undefined without keys: every caller is `anonymous`. Only digests of keys are kept. */
export function createAuthenticator(keys: readonly AuthKey[]): Authenticator | undefined {
  if (keys.length === 0) return undefined
  const callers = new Map(
    keys.map(({ key, id, userId, scopes }, index) => {
      const known = hashOfKey(key)
      const caller = { caller: id ?? `key:${index}`, userId, scopes: scopes && new Set(scopes) }
      return [known.toString('hex'), { known, caller }] as const
    }),
  )
  return {
    identify(headers) {
      for (const key of presentedKeys(headers)) {
        const candidate = hashOfPresentedKey(key)
        // The time of the look-up only reveals something about hashes; there is one comparison for any number of keys.
        const found = callers.get(candidate.toString('hex'))
        if (found !== undefined && timingSafeEqual(candidate, found.known)) return found.caller
      }
      return undefined
    },
  }
}
/** Whether the request has a key, valid or not. */
export function presentsKey(headers: IncomingHttpHeaders): boolean {
  return presentedKeys(headers).length > 0
}

export function unauthorized(headers: IncomingHttpHeaders): AppError {
  const problem = presentsKey(headers) ? 'The API key is not valid' : 'This server requires an API key'
  return new AppError('unauthorized', `${problem}. Send a valid key as 'Authorization: Bearer …' or 'X-API-Key: …'.`)
}

function presentedKeys(headers: IncomingHttpHeaders): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const key = headers['x-api-key']
  return [...(bearer === undefined ? [] : [bearer]), ...(typeof key === 'string' ? [key] : [])]
}

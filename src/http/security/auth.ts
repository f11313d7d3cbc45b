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

/** Only digests of keys are kept. */
export function createAuthenticator(keys: readonly AuthKey[]): Authenticator {
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

/** Whether the request has a key or a token, valid or not. */
export function presentsKey(headers: IncomingHttpHeaders): boolean {
  return presentedKeys(headers).length > 0
}

/** What a server takes. */
export type Credential = 'key' | 'token' | 'either'

const wanted: Readonly<Record<Credential, { what: string; how: string }>> = {
  key: { what: 'API key', how: "a valid key as 'Authorization: Bearer …' or 'X-API-Key: …'" },
  token: { what: 'token', how: "a valid one as 'Authorization: Bearer …'" },
  either: {
    what: 'API key or token',
    how: "a valid token or key as 'Authorization: Bearer …', or a key as 'X-API-Key: …'",
  },
}

export function credentialOf(authKeys: readonly unknown[], takesTokens: boolean): Credential {
  if (!takesTokens) return 'key'
  return authKeys.length === 0 ? 'token' : 'either'
}

export function unauthorized(headers: IncomingHttpHeaders, taken: Credential, challenge?: string): AppError {
  const { what, how } = wanted[taken]
  const problem = presentsKey(headers)
    ? `The ${what} is not valid`
    : `This server requires ${taken === 'token' ? 'a' : 'an'} ${what}`
  return new AppError('unauthorized', `${problem}. Send ${how}.`, { challenge })
}

/** What stands after `Bearer` (RFC 6750, 2.1); tokens are accepted there alone. */
export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}

function presentedKeys(headers: IncomingHttpHeaders): string[] {
  const bearer = bearerOf(headers)
  const key = headers['x-api-key']
  return [...(bearer === undefined ? [] : [bearer]), ...(typeof key === 'string' ? [key] : [])]
}

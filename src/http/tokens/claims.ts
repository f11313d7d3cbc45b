import { neverOfUsers, type Scope, scopes, scopesOfUsers } from '../../core/access/scope.ts'
import { tokenCaller } from '../../core/access/token-caller.ts'
import { AppError } from '../../core/error.ts'
import type { Caller } from '../security/auth.ts'
import type { TokenSettings } from './settings.ts'

type Claims = Readonly<Record<string, unknown>>

const longestUser = 256

/**
 * Who a verified token stands for. Without a usable user it throws `unauthorized`, without usable scopes `forbidden`.
 * Scopes that this server does not know are ignored: providers put their own beside them.
 */
export function callerOf(claims: Claims, settings: TokenSettings): Caller {
  const user = userOf(claims, settings.userClaim)
  const caller = tokenCaller(user)
  const { scopeClaim, scopePrefix, operatorScope, allUsersScope } = settings
  if (scopeClaim === undefined) return { caller, userId: user, scopes: new Set(scopesOfUsers) }
  const named = scopesNamed(claims, scopeClaim)
  if (operatorScope !== undefined && named.has(operatorScope)) return { caller, userId: undefined, scopes: undefined }
  const granted = scopes.filter((scope) => named.has(scopePrefix + scope))
  if (allUsersScope !== undefined && named.has(allUsersScope))
    return { caller, userId: undefined, scopes: new Set(granted) }
  return { caller, userId: user, scopes: new Set(granted.filter((scope: Scope) => !neverOfUsers.includes(scope))) }
}

function userOf(claims: Claims, name: string): string {
  const user = find(claims, name)
  if (typeof user === 'string' && user.trim() !== '' && user.length <= longestUser && !/\p{Cc}/u.test(user)) return user
  const problem = user === undefined ? 'has no' : 'has an unusable'
  throw new AppError(
    'unauthorized',
    `The token ${problem} claim '${name}', which says whose it is: it must be a text of 1 to ${longestUser} characters. ` +
      'Have the issuer add it.',
  )
}

/** One text with spaces between the scopes, or a list of texts. */
function scopesNamed(claims: Claims, name: string): ReadonlySet<string> {
  const given = find(claims, name)
  if (typeof given === 'string') return new Set(given.split(' '))
  if (Array.isArray(given) && given.every((scope) => typeof scope === 'string')) return new Set(given)
  const problem = given === undefined ? 'has no' : 'has an unusable'
  throw new AppError(
    'forbidden',
    `The token ${problem} claim '${name}', which says what it may do: it must be a text with spaces between the scopes, ` +
      'or a list of texts. Have the issuer add it.',
  )
}

/** By its whole name, else by its path: `realm_access.roles`. */
function find(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Claims)[part]
  }
  return found
}

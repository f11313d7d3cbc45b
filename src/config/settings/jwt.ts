import type { z } from 'zod'
import { scopes } from '../../core/access/scope.ts'
import { choose, duration, is, list, match, settings, text } from '../../schema/field.ts'

const issuer = is<string>(
  "the issuer's https address as its tokens say it (http only for this machine), without query and fragment",
  isIssuer,
)
const claim = () => text('the name of a claim')
/** OAuth divides scopes by spaces. */
const scopeName = () => match('a scope: visible ASCII characters without spaces', /^[\x21-\x7e]+$/)

/** `server.auth.jwt`: tokens of an OpenID Connect provider, beside keys. */
export const jwtSettings = settings({
  issuer,
  /** What the provider calls this server; a token for anybody else is refused. */
  audience: choose((value) =>
    Array.isArray(value) ? list(text()).min(1, 'must have at least one text') : text(),
  ).transform((given): string[] => [given].flat()),
  /** The claim that says whose data a token sees. */
  userClaim: claim().default('sub'),
  /** The claim with the scopes. Default: none, and each user has those of a key with `userId`. */
  scopeClaim: claim().optional(),
  /** What stands before the server's own scopes in that claim. */
  scopePrefix: match('visible ASCII characters without spaces', /^[\x21-\x7e]*$/).default(''),
  /** The scope of tokens that may do everything. Default: none. */
  operatorScope: scopeName().optional(),
  /** The scope of tokens that see the data of all users, within their other scopes. Default: none. */
  allUsersScope: scopeName().optional(),
  /** How far the clocks may differ. */
  clockSkew: duration(0, 'a time from 0 to 5 minutes', 300_000).prefault('30s'),
}).superRefine(({ scopeClaim, scopePrefix, operatorScope, allUsersScope }, context) => {
  const complain = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  for (const [name, scope] of Object.entries({ operatorScope, allUsersScope })) {
    if (scope === undefined) continue
    if (scopeClaim === undefined) complain(name, 'needs scopeClaim: it names the claim that has the scope')
    if (scopes.some((own) => scopePrefix + own === scope))
      complain(name, `is '${scope}', which already opens routes: give it a name of its own`)
  }
  if (scopePrefix !== '' && scopeClaim === undefined)
    complain('scopePrefix', 'needs scopeClaim: it names the claim that has the scopes')
  if (operatorScope !== undefined && operatorScope === allUsersScope)
    complain('allUsersScope', 'is the same as operatorScope: give each its own')
})

export interface ResolvedJwt extends z.output<typeof jwtSettings> {}

/** OpenID Connect Discovery 1.0, 3: no query and no fragment. */
function isIssuer(value: unknown): boolean {
  if (typeof value !== 'string' || /[?#\s]/.test(value)) return false
  const url = URL.parse(value)
  if (url === null || url.username + url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isThisMachine(url.hostname))
}

function isThisMachine(hostname: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:.+\.)?localhost)$/.test(hostname)
}

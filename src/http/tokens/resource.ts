import { type Addressed, publicAddress } from '../../core/access/public-address.ts'
import { type Access, scopesOf, scopesOfUsers } from '../../core/access/scope.ts'
import type { JsonObject } from '../../core/json.ts'
import type { TokenSettings } from './settings.ts'

/** Before the path of a resource (RFC 9728, 3.1). */
export const metadataPath = '/.well-known/oauth-protected-resource'

interface Asked extends Addressed {
  readonly path: string
}

export interface ResourceOptions {
  /** The server's address, where requests do not have it. */
  publicUrl?: string | undefined
  /** Paths that are a resource of their own. All others belong to the one at the origin. */
  paths?: readonly string[] | undefined
}

/** The server as OAuth knows it, so that clients find out where tokens come from (RFC 9728). */
export interface ProtectedResource {
  /** Of each resource: `''` at the origin, and their paths. */
  readonly paths: readonly string[]
  metadata(request: Asked, path: string): JsonObject
  /** `WWW-Authenticate` of a 401; `hasToken`: the token was no good. */
  challenge(request: Asked, hasToken: boolean): string
  /** The same of a 403 for a token without the scopes of a route. */
  challengeFor(request: Asked, needed: Access): string
}

export function protectedResource(settings: TokenSettings, options: ResourceOptions = {}): ProtectedResource {
  const { issuer, scopeClaim, scopePrefix, operatorScope } = settings
  const paths = ['', ...(options.paths ?? []).filter((path) => path !== '/')]
  const originOf = (request: Asked) => publicAddress(request, options.publicUrl)
  const inToken = (scopes: readonly string[]) => scopes.map((scope) => scopePrefix + scope)

  function neededScopes(access: Access): readonly string[] {
    if (scopeClaim === undefined) return []
    if (access === 'operator') return operatorScope === undefined ? [] : [operatorScope]
    return inToken(scopesOf(access)[0] ?? [])
  }

  function challenge(request: Asked, fields: Record<string, string>): string {
    const path = paths.includes(request.path) ? request.path : ''
    const all = { ...fields, resource_metadata: originOf(request) + metadataPath + path }
    return `Bearer ${Object.entries(all)
      .map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`)
      .join(', ')}`
  }

  return {
    paths,
    metadata: (request, path) => ({
      resource: originOf(request) + path,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      // Those that clients ask for when nobody tells them: the others are for a few.
      ...(scopeClaim !== undefined && { scopes_supported: inToken(scopesOfUsers) }),
      resource_name: 'agentserve',
    }),
    challenge: (request, hasToken) => challenge(request, hasToken ? { error: 'invalid_token' } : {}),
    challengeFor(request, needed) {
      const scopes = neededScopes(needed)
      return challenge(request, {
        error: 'insufficient_scope',
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      })
    },
  }
}

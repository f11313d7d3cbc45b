export const scopes = ['run', 'sessions', 'prompts', 'knowledge:read', 'knowledge:write', 'metrics', 'admin'] as const

export type Scope = (typeof scopes)[number]

/** What a user may do unless the key or token says otherwise. */
export const scopesOfUsers: readonly Scope[] = ['run', 'sessions', 'knowledge:read']
/** These concern the data of all users. */
export const neverOfUsers: readonly Scope[] = ['admin', 'metrics']

/**
 * Who may call a route when keys are configured: everyone, any key, an operator's key (with neither user nor scopes), or a
 * key with the scope (all scopes, or any of them).
 */
export type Access = 'open' | 'any' | 'operator' | Scope | readonly Scope[] | { readonly anyOf: readonly Scope[] }

/** The sets of scopes of which one opens the route; none opens an operator's. */
export function scopesOf(access: Access): readonly (readonly Scope[])[] {
  if (access === 'open' || access === 'any') return [[]]
  if (access === 'operator') return []
  if (typeof access === 'string') return [[access]]
  return 'anyOf' in access ? access.anyOf.map((scope) => [scope]) : [access]
}

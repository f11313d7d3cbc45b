export const scopes = ['run', 'sessions', 'prompts', 'knowledge:read', 'knowledge:write', 'metrics', 'admin'] as const

export type Scope = (typeof scopes)[number]

/** Who may call a route when keys are configured: everyone, any key, or a key with the scope (all scopes, or any of them). */
export type Access = 'open' | 'any' | Scope | readonly Scope[] | { readonly anyOf: readonly Scope[] }

/** The sets of scopes of which one opens the route. */
export function scopesOf(access: Access): readonly (readonly Scope[])[] {
  if (access === 'open' || access === 'any') return [[]]
  if (typeof access === 'string') return [[access]]
  return 'anyOf' in access ? access.anyOf.map((scope) => [scope]) : [access]
}

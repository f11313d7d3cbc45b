/** What a key may be allowed to do. */
export const scopes = ['run', 'sessions', 'prompts', 'knowledge:read', 'knowledge:write', 'metrics', 'admin'] as const

export type Scope = (typeof scopes)[number]

/** Who gets in where there are keys: everybody, every key, or a key with the scope, or with all of several. */
export type Access = 'open' | 'any' | Scope | readonly Scope[]

/** The scopes that a key needs for it. */
export function scopesOf(access: Access): readonly Scope[] {
  if (access === 'open' || access === 'any') return []
  return typeof access === 'string' ? [access] : access
}

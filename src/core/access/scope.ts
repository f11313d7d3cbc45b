export const scopes = ['run', 'sessions', 'prompts', 'knowledge:read', 'knowledge:write', 'metrics', 'admin'] as const

export type Scope = (typeof scopes)[number]

/** Who may call a route when keys are configured: everyone, any key, or a key with the scope (or all scopes). */
export type Access = 'open' | 'any' | Scope | readonly Scope[]

export function scopesOf(access: Access): readonly Scope[] {
  if (access === 'open' || access === 'any') return []
  return typeof access === 'string' ? [access] : access
}

import type { CallAnswer } from '../../core/run.ts'

/** What a question of a run was answered. An object is shown beside it. */
export function inWords({ approved, reason, input, output, error }: CallAnswer): string {
  if (error !== undefined) return `failed: ${error}`
  const why = reason ?? (typeof input === 'string' ? input : undefined)
  if (approved !== undefined && output === undefined) {
    const decision = approved ? 'allowed' : 'refused'
    return why === undefined ? decision : `${decision}: ${why}`
  }
  const value = output ?? input
  return value === undefined || typeof value === 'object' ? 'answered' : String(value)
}

import type { CallAnswer } from '../../core/run.ts'

/** What a question of a run was answered. An object is shown beside it. */
export function inWords({ approved, reason, input, output, error }: CallAnswer): string {
  const why = reason ?? (typeof input === 'string' ? input : undefined)
  if (approved !== undefined) {
    const decision = approved ? 'allowed' : 'refused'
    return why === undefined ? decision : `${decision}: ${why}`
  }
  if (error !== undefined) return `failed: ${error}`
  const value = input ?? output
  return value === undefined || typeof value === 'object' ? 'answered' : String(value)
}

import type { Cost } from '../../core/run.ts'

/** `$0.0041`, `local`, or `–` for what is not known. An older server says nothing of it. */
export function formatCost(cost: Cost | null | undefined): string {
  if (cost === null || cost === undefined) return '–'
  if (cost.local === true) return 'local'
  if (cost.usd > 0 && cost.usd < 0.0001) return '<$0.0001'
  return `$${cost.usd.toFixed(cost.usd < 1 ? 4 : 2)}`
}

/** Milliseconds, or a number with a unit: `'500ms'`, `'30s'`, `'10m'`, `'2h'`, `'30d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const unitMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** In milliseconds; undefined for an invalid duration (negative, not finite, unknown unit, wrong type). */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value.trim())
  return match === null ? undefined : Number(match[1]) * (unitMs[match[2] ?? ''] ?? 1)
}

/** In the largest unit that gives a whole number: `24 h`. */
export function shownDuration(ms: number): string {
  const [unit, size] = Object.entries(unitMs).findLast(([, size]) => ms >= size && ms % size === 0) ?? ['ms', 1]
  return `${ms / size} ${unit}`
}

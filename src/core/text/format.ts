export function formatMs(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 60_000
    ? `${(ms / 1000).toFixed(2)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

const whole = new Intl.NumberFormat('en')

/** What is not known is no zero. */
export function formatCount(count: number | undefined): string {
  return count === undefined ? '–' : whole.format(count)
}

/** `1 passage`, `1,200 passages`. */
export function counted(count: number, word: string): string {
  return `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`
}

/** What is not known is no zero. */
export function formatCost(cost: { usd: number; local?: true } | null | undefined): string {
  if (cost === null || cost === undefined) return '–'
  if (cost.local === true) return 'local'
  return cost.usd === 0 ? '$0' : cost.usd < 0.01 ? `$${cost.usd.toFixed(4)}` : `$${cost.usd.toFixed(2)}`
}

/** Two places behind the point; what is so small that they say nothing, with three digits that do. */
export function formatScore(score: number): string {
  const isSmall = score !== 0 && Math.abs(score) < 0.1
  return isSmall ? `${Number(score.toPrecision(3))}` : score.toFixed(2)
}

/** `7 bytes`, `3.1 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

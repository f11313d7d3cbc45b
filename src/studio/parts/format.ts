const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

/** `now`, `2 min. ago`, `yesterday`. */
export function formatAge(at: number, now: number): string {
  const ms = at - now
  const unit = units.find(([, size]) => Math.abs(ms) >= size)
  return unit === undefined ? 'now' : relative.format(Math.round(ms / unit[1]), unit[0])
}

export function formatMs(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 60_000
    ? `${(ms / 1000).toFixed(2)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

const whole = new Intl.NumberFormat('en')

export function formatCount(count: number): string {
  return whole.format(count)
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

/** Characters that turn the direction of text around, or that nobody sees: `evil\u202egnp.exe` would look like `evilexe.png`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const deceiving = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

const longest = 120

/** A name of a file as it is shown and saved: what deceives is replaced, and no folder is in it. */
export function safeName(name: string): string {
  const seen = name.replace(deceiving, '\ufffd').replaceAll(/[/\\]/g, '_')
  if (seen.length <= longest) return seen
  const dot = seen.lastIndexOf('.')
  const ending = dot > 0 && seen.length - dot <= 12 ? seen.slice(dot) : ''
  return `${seen.slice(0, longest - ending.length)}…${ending}`
}

/** The lines of a passage: `7–9`, and `7` for one. */
export function formatLines(start: number, end = start): string {
  return start === end ? `${start}` : `${start}–${end}`
}

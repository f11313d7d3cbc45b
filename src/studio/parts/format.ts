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

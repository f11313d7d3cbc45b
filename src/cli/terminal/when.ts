const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** `5 min`; undefined after one week, and for a time that is still to come. */
export function howLongAgo(at: string, now: number): string | undefined {
  const ms = now - Date.parse(at)
  if (!(ms > -minuteMs && ms < 7 * dayMs)) return undefined
  if (ms < minuteMs) return 'now'
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h`
  return `${Math.floor(ms / dayMs)} d`
}

/** `2026-11-24 14:05:09` where the terminal is; a text that is no time stays. */
export function localTime(at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return at
  const two = (value: number) => String(value).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}

interface Look {
  /** Where it is printed; default: stdout. */
  stream?: { isTTY?: boolean }
  now?: number
}

/** For a cell of a table: how long ago, or the local time; ISO where programs read it. */
export function tableTime(at: string, { stream = process.stdout, now = Date.now() }: Look = {}): string {
  if (!stream.isTTY) return at
  const ago = howLongAgo(at, now)
  if (ago === undefined) return localTime(at).slice(0, -3)
  return ago === 'now' ? ago : `${ago} ago`
}

/** The local time and how long ago that is; ISO where programs read it. */
export function shownTime(at: string, { stream = process.stdout, now = Date.now() }: Look = {}): string {
  if (!stream.isTTY) return at
  const ago = howLongAgo(at, now)
  if (ago === undefined) return localTime(at)
  return `${localTime(at)} (${ago === 'now' ? ago : `${ago} ago`})`
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** How long ago, in at most ten characters; a date after one week. */
export function sinceWhen(at: string, now: number): string {
  const ms = now - Date.parse(at)
  if (!(ms < 7 * dayMs)) return at.slice(0, 10)
  if (ms < minuteMs) return 'now'
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h`
  return `${Math.floor(ms / dayMs)} d`
}

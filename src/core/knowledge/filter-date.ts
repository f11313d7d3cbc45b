const form = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,15}))?)?(?:Z|([+-])(\d\d):(\d\d))?)?$/
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Milliseconds since 1970 of `2026-01-31` or `2026-01-31T09:30:00Z`; without an offset it is UTC. Else undefined. */
export function instantOf(text: string): number | undefined {
  const found = form.exec(text)
  if (found === null) return undefined
  const numbers = [1, 2, 3, 4, 5, 6, 9, 10].map((at) => Number(found[at] ?? 0))
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0] = numbers
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 14 || offsetMinute > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const offset = (found[8] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute)
  // Whole milliseconds, rounded as SQLite does.
  const fraction = found[7] ?? ''
  const milliseconds = Math.floor((second + Math.min(Number(fraction) / 10 ** fraction.length, 0.999)) * 1000 + 0.5)
  const instant = date.getTime() + (hour * 60 + minute - offset) * 60_000 + milliseconds
  return instant > lastInstant ? undefined : instant
}

import type { Period } from './table.ts'

const dayMs = 86_400_000

/** The period that was in force all the time; undefined when the price changed in between. */
export function periodDuring(periods: readonly Period[], fromMs: number, toMs: number): Period | undefined {
  const period = periodAt(periods, fromMs)
  const changes = periods.flatMap(([when]) => startsOf(when, fromMs))
  return changes.some((at) => at <= toMs && periodAt(periods, at) !== period) ? undefined : period
}

/** A time of day counts whatever the day: the last period that fits. */
function periodAt(periods: readonly Period[], ms: number): Period | undefined {
  return periods.findLast(([when]) => isIn(when, ms)) ?? periods[0]
}

function isIn(when: string | null, ms: number): boolean {
  if (when === null) return true
  const time = timesOf(when)
  if (time === undefined) return ms >= Date.parse(when)
  const [from, to] = time
  const now = ms % dayMs
  return from <= to ? now >= from && now < to : now >= from || now < to
}

/** When the period begins or ends next, after this moment. */
function startsOf(when: string | null, afterMs: number): number[] {
  if (when === null) return []
  const time = timesOf(when)
  if (time === undefined) return [Date.parse(when)].filter((at) => at > afterMs)
  const today = afterMs - (afterMs % dayMs)
  return time.map((ofDay) => (today + ofDay > afterMs ? today + ofDay : today + dayMs + ofDay))
}

/** `01:00-04:00` in milliseconds; undefined for a day. */
function timesOf(when: string): [from: number, to: number] | undefined {
  const found = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(when)
  if (found === null) return undefined
  const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = found.slice(1).map(Number)
  return [(fromHour * 60 + fromMinute) * 60_000, (toHour * 60 + toMinute) * 60_000]
}

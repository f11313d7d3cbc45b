import { Cron } from 'croner'

/** When something is due, in milliseconds since the epoch. */
export interface DueTimes {
  /** The first due time after this moment; undefined: there is none. */
  after(ms: number): number | undefined
  /** The last due time at this moment or before it. */
  until(ms: number): number | undefined
}

/**
 * The due times of a cron pattern in a time zone. A time of day that the zone skips is due at the end of the gap, and one
 * that comes twice is due once; patterns with `*` or a step in hour or minute follow the hours as they pass. Throws for
 * a pattern or a zone that `cronProblem` or `timeZoneProblem` would refuse.
 */
export function dueTimes(pattern: string, timeZone: string): DueTimes {
  const cron = new Cron(pattern, { timezone: timeZone, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' })
  return {
    after: (ms) => cron.nextRun(new Date(ms))?.getTime(),
    // What the library gives lies before the moment that it is asked for.
    until: (ms) => cron.previousRuns(1, new Date(ms + 1))[0]?.getTime(),
  }
}

/** What is wrong with a pattern, as words that follow its name; undefined: nothing. */
export function cronProblem(pattern: string): string | undefined {
  if (pattern.includes('?')) return "has a '?': write '*' or a number"
  try {
    if (dueTimes(pattern, 'UTC').after(Date.now()) !== undefined) return undefined
    return 'never comes: there is no such date'
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '').replace(/\.$/, '') : String(error)
  }
}

/** Whether this machine knows the time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The names of time zones, for suggestions. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')]
}

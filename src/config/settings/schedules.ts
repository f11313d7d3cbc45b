import { z } from 'zod'
import type { JsonObject } from '../../core/json.ts'
import { nearest } from '../../core/text/nearest.ts'
import { overlaps } from '../../core/triggers/schedule.ts'
import { cronProblem, isTimeZone, timeZones } from '../../runtime/cron.ts'
import { duration, flag, is, isObject, object, oneOf, settings, show, sound, text } from '../../schema/field.ts'

const named = /^[A-Za-z0-9._-]{1,64}$/

const cron = () =>
  sound<string>((value) => {
    if (value === undefined) return "is missing; it must be a cron pattern like '0 3 * * *' (every day at 3)"
    const problem = typeof value === 'string' ? cronProblem(value) : 'is no text'
    if (problem === undefined) return undefined
    return `is ${show(value)}, which ${/^(?:has|never|is) /.test(problem) ? problem : `can't be read: ${problem}`}. Write minute, hour, day of month, month and day of week, like '0 3 * * *' (every day at 3)`
  })

const timeZone = () =>
  sound<string>((value) => {
    if (typeof value === 'string' && isTimeZone(value)) return undefined
    const meant = typeof value === 'string' ? nearest(value, timeZones()) : undefined
    return `must be a time zone like 'Europe/Berlin', not ${show(value)}${meant === undefined ? '' : `; did you mean '${meant}'?`}`
  })

const input = () =>
  is<string | JsonObject>('a text or an object of data', (value) =>
    typeof value === 'string' ? value.trim() !== '' : isObject(value),
  )

/** A run at each due time. */
const scheduleFields = settings({
  /** Minute, hour, day of month, month, day of week; with six parts, seconds first. Or `@hourly`, `@daily`, `@weekly`, `@monthly`. */
  cron: cron(),
  /** The id of an agent, team or workflow. */
  agent: text('the id of an agent, team or workflow'),
  input: input(),
  /** Default `UTC`. */
  timeZone: timeZone().default('UTC'),
  /** The id of the session of all its runs. Default: each run has its own. */
  session: text('the id of a session').optional(),
  /** The user whose runs they are. */
  user: text('the id of a user').optional(),
  /** Of its runs. */
  metadata: object<JsonObject>().optional(),
  /** While the newest run is under way: start none (`skip`, the default), start another one, or cancel it first. */
  overlap: oneOf(overlaps).default('skip'),
  /** How late a due time that was missed is made up for, up to 30 days; 0: never. Default 7 days. */
  catchUp: duration(0, 'a time from 0 to 30 days', 30 * 86_400_000).prefault('7d'),
  enabled: flag().default(true),
}).transform(({ catchUp: catchUpMs, ...same }) => ({ ...same, catchUpMs }))

/** Schedules by name. */
export const schedules = () =>
  z
    .record(z.string(), scheduleFields, { error: () => 'must be an object with one schedule per name' })
    .superRefine((given, context) => {
      for (const name of Object.keys(given)) {
        if (named.test(name)) continue
        const message = 'is not a name: write 1 to 64 of A-Z a-z 0-9 . _ -'
        context.addIssue({ code: 'custom', path: [name], message })
      }
    })
export type ScheduleSettings = z.input<typeof scheduleFields>

import { AppError } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { SessionStore } from '../../core/store.ts'
import { nearest } from '../../core/text/nearest.ts'
import { type Clock, type Timers, timestamp } from '../../core/time.ts'
import type { Schedule, ScheduleInfo, ScheduleState } from '../../core/triggers/schedule.ts'
import { dueTimes } from '../../runtime/cron.ts'
import { createSerial } from '../../runtime/serial.ts'
import type { RunHandle, Runs } from '../services.ts'
import { Clockwork } from './clockwork.ts'
import { Firing } from './firing.ts'

/** The schedules of the config. */
export interface Schedules {
  /** In the order of the config. */
  list(): Promise<ScheduleInfo[]>
  /** Throws `schedule_not_found`. */
  get(name: string): Promise<ScheduleInfo>
  /** Starts a run now, whatever else is under way, also of one that is off or paused. Throws what `Runs.start` throws. */
  run(name: string): Promise<RunHandle>
  /** Until it goes on it starts no runs, on every instance and over restarts. Nothing is made up for. */
  pause(name: string, paused: boolean): Promise<ScheduleInfo>
}

export interface SchedulesOptions {
  store: SessionStore
  runs: () => Runs
  clock: Clock
  timers: Timers
  logger: Logger
}

/** Starts the runs of schedules, between `start` and `close`. */
export class ScheduleService implements Schedules {
  readonly #options: SchedulesOptions
  readonly #firing: Firing
  readonly #clockwork: Clockwork
  readonly #changes = createSerial()
  #schedules: readonly Schedule[]
  #isStarted = false

  constructor(schedules: readonly Schedule[], options: SchedulesOptions) {
    this.#schedules = schedules
    this.#options = options
    this.#firing = new Firing(options)
    this.#clockwork = new Clockwork({
      ...options,
      onDue: ({ schedule }, dueMs) => this.#firing.fire(schedule, dueMs),
    })
  }

  async list(): Promise<ScheduleInfo[]> {
    const states = await this.#states()
    return this.#schedules.map((schedule) => this.#infoOf(schedule, states.get(schedule.name)))
  }

  async get(name: string): Promise<ScheduleInfo> {
    const schedule = this.#find(name)
    return this.#infoOf(schedule, (await this.#states()).get(name))
  }

  async run(name: string): Promise<RunHandle> {
    const schedule = this.#find(name)
    await this.#open(schedule)
    return this.#firing.run(schedule)
  }

  async pause(name: string, paused: boolean): Promise<ScheduleInfo> {
    const schedule = this.#find(name)
    await this.#open(schedule)
    const { store, clock } = this.#options
    const state = await store.pauseSchedule(name, paused, timestamp(clock()))
    const planned = this.#clockwork.find(name)
    if (planned !== undefined) planned.untilMs = clock()
    return this.#infoOf(schedule, state)
  }

  /** The server serves: what was missed before is made up for. */
  start(): void {
    this.#isStarted = true
    this.#plan()
  }

  /** Another config. Schedules that stay the same go on undisturbed. */
  replace(schedules: readonly Schedule[]): void {
    this.#schedules = schedules
    if (this.#isStarted) this.#plan()
  }

  /** Resolves when what was due has been started. For tests. */
  async idle(): Promise<void> {
    await this.#changes.idle()
    await this.#clockwork.idle()
  }

  async close(): Promise<void> {
    this.#isStarted = false
    await this.#changes.idle()
    await this.#clockwork.close()
  }

  #plan(): void {
    void this.#changes.run(async () => {
      for (const name of this.#clockwork.names) {
        if (!this.#schedules.some((one) => one.enabled && one.name === name)) this.#clockwork.drop(name)
      }
      for (const schedule of this.#schedules) await this.#planOne(schedule)
      if (this.#isStarted) this.#clockwork.tick()
    })
  }

  async #planOne(schedule: Schedule): Promise<void> {
    const { logger, clock, timers } = this.#options
    const planned = this.#clockwork.find(schedule.name)
    if (planned !== undefined && ruleOf(planned.schedule) === ruleOf(schedule)) {
      planned.schedule = schedule
      return
    }
    try {
      const { handled_until } = await this.#open(schedule)
      if (schedule.enabled) this.#clockwork.plan(schedule, Math.min(Date.parse(handled_until), clock()))
    } catch (error) {
      logger.warn({ error, schedule: schedule.name }, 'a schedule could not be read')
      if (this.#isStarted) timers.set(() => this.#isStarted && this.#plan(), retryMs).unref()
    }
  }

  #open(schedule: Schedule): Promise<ScheduleState> {
    return this.#options.store.openSchedule(schedule.name, ruleOf(schedule), timestamp(this.#options.clock()))
  }

  async #states(): Promise<Map<string, ScheduleState>> {
    const states = await this.#options.store.listSchedules()
    return new Map(states.map((state) => [state.name, state]))
  }

  #find(name: string): Schedule {
    const found = this.#schedules.find((schedule) => schedule.name === name)
    if (found !== undefined) return found
    throw noSchedule(
      name,
      this.#schedules.map((schedule) => schedule.name),
    )
  }

  #infoOf(schedule: Schedule, state: ScheduleState | undefined): ScheduleInfo {
    const { name, agent, cron, timeZone, input, session = null, user = null, overlap, enabled } = schedule
    const paused = state?.paused ?? false
    const nextMs = enabled && !paused ? dueTimes(cron, timeZone).after(this.#options.clock()) : undefined
    return {
      name,
      agent,
      cron,
      time_zone: timeZone,
      input,
      session_id: session,
      user_id: user,
      overlap,
      enabled,
      paused,
      next_at: nextMs === undefined ? null : timestamp(nextMs),
      last_run: state?.run_id == null || state.run_at === null ? null : { run_id: state.run_id, at: state.run_at },
      skipped_at: state?.skipped_at ?? null,
    }
  }
}

const retryMs = 5_000

/** What decides when it is due. While it is off nothing is missed. */
function ruleOf({ cron, timeZone, enabled }: Schedule): string {
  return enabled ? `${cron} ${timeZone}` : 'off'
}

/** The error for a name that is not among these. */
export function noSchedule(name: string, names: readonly string[]): AppError {
  const meant = nearest(name, names)
  const listed = names.length === 0 ? '' : ` Names: ${names.join(', ')}.`
  const hint = meant === undefined ? listed : ` Did you mean '${meant}'?`
  return new AppError('schedule_not_found', `There is no schedule '${name}'.${hint}`)
}

import type { Clock, Timer, Timers } from '../../core/time.ts'
import type { Schedule } from '../../core/triggers/schedule.ts'
import { type DueTimes, dueTimes } from '../../runtime/cron.ts'

/** So that a clock that was set, or a machine that slept, is noticed soon. */
const longestWaitMs = 30_000

/** A schedule with its due times. */
export interface Planned {
  schedule: Schedule
  times: DueTimes
  /** Due times up to here are dealt with, as far as this process knows. */
  untilMs: number
}

export interface ClockworkOptions {
  clock: Clock
  timers: Timers
  /** The newest due time that nobody has dealt with. False: try it again later. */
  onDue: (planned: Planned, dueMs: number) => Promise<boolean>
}

/** Tells when schedules are due: each due time once, and of several that were missed only the newest. */
export class Clockwork {
  readonly #options: ClockworkOptions
  readonly #planned = new Map<string, Planned>()
  readonly #firing = new Map<string, Promise<void>>()
  #timer: Timer | undefined
  #closed = false

  constructor(options: ClockworkOptions) {
    this.#options = options
  }

  get names(): string[] {
    return [...this.#planned.keys()]
  }

  find(name: string): Planned | undefined {
    return this.#planned.get(name)
  }

  /** In place of one with the same name. Call `tick` afterwards. */
  plan(schedule: Schedule, untilMs: number): void {
    const times = dueTimes(schedule.cron, schedule.timeZone)
    this.#planned.set(schedule.name, { schedule, times, untilMs })
  }

  drop(name: string): void {
    this.#planned.delete(name)
  }

  readonly tick = (): void => {
    if (this.#closed) return
    const { clock, timers } = this.#options
    const now = clock()
    let nextMs = now + longestWaitMs
    for (const planned of this.#planned.values()) {
      // The clock was set back. What comes again has its key already, and starts nothing.
      if (planned.untilMs > now) planned.untilMs = now
      const dueMs = planned.times.until(now)
      if (dueMs !== undefined && dueMs > planned.untilMs) this.#fire(planned, dueMs)
      nextMs = Math.min(nextMs, planned.times.after(now) ?? nextMs)
    }
    timers.clear(this.#timer)
    this.#timer = this.#planned.size === 0 ? undefined : timers.set(this.tick, Math.max(1, nextMs - now))
    this.#timer?.unref()
  }

  /** Ends the timer; resolves when nothing is being started any more. */
  async close(): Promise<void> {
    this.#closed = true
    this.#options.timers.clear(this.#timer)
    await this.idle()
  }

  async idle(): Promise<void> {
    await Promise.all(this.#firing.values())
  }

  #fire(planned: Planned, dueMs: number): void {
    const { name } = planned.schedule
    if (this.#firing.has(name)) return
    const before = planned.untilMs
    planned.untilMs = dueMs
    const firing = this.#options
      .onDue(planned, dueMs)
      .then((isDealtWith) => {
        if (!isDealtWith) planned.untilMs = Math.min(planned.untilMs, before)
      })
      .finally(() => this.#firing.delete(name))
    this.#firing.set(name, firing)
  }
}

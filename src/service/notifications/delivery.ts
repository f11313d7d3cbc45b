import { isAppError } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { PushDuty } from '../../core/push.ts'
import { isEnded } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Timers } from '../../core/time.ts'
import type { Runs } from '../services.ts'
import type { Notice } from './notice.ts'
import type { Outbox, Receiver, Sent } from './outbox.ts'
import { rest } from './rest.ts'

const attempts = 5
const firstPauseMs = 1_000
const longestPauseMs = 30_000
/** However long a receiver asks to wait. */
const longestAskedMs = 5 * 60_000
/** Notifications in a row that fail before a config gets no more. */
const maxFailures = 3

export type NotifiedRuns = Pick<Runs, 'get' | 'head' | 'events'>

export interface DeliveryOptions {
  store: SessionStore
  runs: NotifiedRuns
  notice: Notice
  outbox: Outbox
  logger: Logger
  timers: Timers
  closing: AbortSignal
}

interface Attempt {
  /** `gone`: the config or its run. `unread`: the store could not be read. */
  outcome: Sent | 'gone' | 'unread'
  reason: string
  /** The state of the run that was told, or was to be. */
  state: string
  /** Whether nothing follows unless the run is resumed. */
  isLast: boolean
  /** See `Sending`. */
  retryAfterMs?: number | undefined
}

/**
 * The notifications to one receiver, one after the other. Each tells the newest state when it is its turn: states that came and
 * went meanwhile are not told, so a receiver that is slow costs no memory.
 */
export class Delivery {
  readonly #options: DeliveryOptions
  #duty: PushDuty
  /** The state that was last told. */
  #told: string | undefined
  #isDue = false
  #isOver = false
  #working: Promise<void> | undefined

  constructor(options: DeliveryOptions, duty: PushDuty) {
    this.#options = options
    this.#duty = duty
  }

  /** The config has changed, or is this process's again. */
  renew(duty: PushDuty): void {
    if (duty.created_at !== this.#duty.created_at || duty.url !== this.#duty.url) this.#told = undefined
    this.#duty = duty
  }

  /** The config was deleted. */
  end(): void {
    this.#isOver = true
  }

  /** The run may have another state. */
  tell(): void {
    this.#isDue = true
    this.#working ??= this.#work()
  }

  /** Resolves when nothing is to be told. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working
  }

  async #work(): Promise<void> {
    do {
      this.#isDue = false
      if (this.#duty.failures < maxFailures) await this.#notify()
      else await this.#settle(this.#duty, this.#duty.failures, false)
    } while (this.#isDue && !this.#isOver && !this.#options.outbox.signal.aborted)
    this.#working = undefined
  }

  async #notify(): Promise<void> {
    const { closing, timers } = this.#options
    /** The state that failed last. */
    let failed: string | undefined
    for (let attempt = 1; !this.#isOver; attempt++) {
      const duty = this.#duty
      const { outcome, reason, state, isLast, retryAfterMs = 0 } = await this.#try(duty)
      if (outcome === 'gone') return this.end()
      if (outcome === 'delivered') return this.#delivered(duty, state, isLast)
      if (closing.aborted) return
      if (state !== failed) attempt = 1
      failed = state
      if (outcome === 'refused') return this.#failed(duty, reason)
      if (attempt >= attempts) return outcome === 'unread' ? undefined : this.#failed(duty, reason)
      const ms = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1))
      const asked = Math.min(longestAskedMs, retryAfterMs)
      await rest(timers, Math.max(asked, ms * (0.5 + Math.random())), closing)
      if (closing.aborted) return
    }
  }

  async #try(duty: PushDuty): Promise<Attempt> {
    const { runs, outbox, notice, logger } = this.#options
    const attempt: Attempt = { outcome: 'gone', reason: '', state: '', isLast: false }
    try {
      if (!(await this.#isPresent())) return attempt
      const sending = await outbox.send(receiverOf(duty), async () => {
        const run = await runs.get(duty.run_id)
        attempt.state = `${run.status} ${run.end_seq ?? ''}`
        attempt.isLast = isEnded(run.status)
        return attempt.state === this.#told ? [] : notice(run, duty.version, this.#told === undefined)
      })
      return Object.assign(attempt, sending)
    } catch (error) {
      if (isGone(error)) return attempt
      logger.warn({ error, ...about(duty) }, 'a push notification could not be made')
      return Object.assign(attempt, { outcome: 'unread' })
    }
  }

  /** Another process may have deleted or changed it. */
  async #isPresent(): Promise<boolean> {
    const { run_id, config_id, created_at, url } = this.#duty
    const found = (await this.#options.store.listPushConfigs(run_id)).find((config) => config.config_id === config_id)
    return found?.created_at === created_at && found.url === url
  }

  async #delivered(duty: PushDuty, state: string, isLast: boolean): Promise<void> {
    this.#told = state
    if (isLast || duty.failures > 0) await this.#settle(duty, 0, !isLast)
  }

  async #failed(duty: PushDuty, reason: string): Promise<void> {
    const failures = duty.failures + 1
    const { logger } = this.#options
    logger.warn({ ...about(duty), reason }, 'a push notification could not be delivered')
    // Else the next process tries again what is not told yet.
    if (failures >= maxFailures) logger.error({ ...about(duty), failures, reason }, 'a push config is disabled')
    await this.#settle(duty, failures, failures < maxFailures)
  }

  /** Not of a config that was renewed meanwhile: that has something to tell again. */
  async #settle(duty: PushDuty, failures: number, unsent: boolean): Promise<void> {
    duty.failures = failures
    try {
      await this.#options.store.settlePushConfig(duty, { failures, unsent })
    } catch (error) {
      this.#options.logger.warn({ error, ...about(duty) }, 'the outcome of a push notification could not be recorded')
    }
  }
}

function receiverOf({ url, token, authentication }: PushDuty): Receiver {
  const headers: Record<string, string> = {}
  if (token !== null) headers['x-a2a-notification-token'] = token
  if (authentication !== null && authentication.credentials !== null) {
    headers.authorization = `${authentication.scheme} ${authentication.credentials}`
  }
  return { url, headers }
}

/** For the log: neither secrets nor the path, which may have some. */
function about({ run_id, config_id, url }: PushDuty): Record<string, string> {
  return { run_id, config_id, receiver: new URL(url).origin }
}

/** Whether the run is not there any more. */
export function isGone(error: unknown): boolean {
  return isAppError(error) && error.code === 'run_not_found'
}

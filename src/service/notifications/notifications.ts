import { AppError, notFound } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { PushConfig, PushDuty } from '../../core/push.ts'
import type { SessionStore } from '../../core/store.ts'
import { type Clock, type Timer, type Timers, timestamp } from '../../core/time.ts'
import type { NotifiedRuns } from './delivery.ts'
import type { Notice } from './notice.ts'
import { NotifiedRun } from './notified-run.ts'
import { Outbox } from './outbox.ts'
import { rest } from './rest.ts'
import { checkTarget, type NotificationTarget, type PushSettings, type ShownTarget } from './target.ts'

/** Runs with notifications under way. */
const most = 10_000
const adoptedAtOnce = 100
const makeRoomMs = 500
/** For what a dead instance has left while nobody heard of its end. */
const lookAgainMs = 60_000
const lastNoticesMs = 3_000

/** Tells addresses that callers name how their runs go on. */
export interface Notifications {
  /** Throws `invalid_request` for what `set` would refuse. */
  check(target: NotificationTarget): Promise<void>
  /** Takes the place of a target with the same id. Throws `invalid_request`, `run_not_found`, `unavailable`. */
  set(runId: string, target: NotificationTarget): Promise<ShownTarget>
  list(runId: string): Promise<ShownTarget[]>
  /** Does nothing when it is not there. */
  delete(runId: string, id: string): Promise<void>
}

export interface NotificationsOptions {
  store: SessionStore
  runs: () => NotifiedRuns
  settings: PushSettings
  notice: Notice
  /** Names this process in the store. */
  owner: () => string
  /** Others write to the same store. */
  isShared: boolean
  logger: Logger
  clock: Clock
  timers: Timers
}

/** Sends for the configs of runs. Costs nothing for runs without one. */
export class NotificationService implements Notifications {
  readonly #options: NotificationsOptions
  readonly #outbox: Outbox
  readonly #notified = new Map<string, NotifiedRun>()
  readonly #closing = new AbortController()
  #adopting: Promise<void> | undefined
  #timer: Timer | undefined

  constructor(options: NotificationsOptions) {
    this.#options = options
    this.#outbox = new Outbox(options.settings)
  }

  check(target: NotificationTarget): Promise<void> {
    return checkTarget(target, this.#options.settings)
  }

  async set(runId: string, target: NotificationTarget): Promise<ShownTarget> {
    await this.check(target)
    const { store, owner, clock, settings } = this.#options
    if (this.#notified.size >= most && !this.#notified.has(runId)) {
      const message = 'Too many push notifications are under way. Retry later.'
      throw new AppError('unavailable', message, { retryAfterSeconds: 10 })
    }
    const { id = runId, url, token = null, authentication, version } = target
    const config: PushConfig = {
      run_id: runId,
      config_id: id,
      url,
      token,
      authentication:
        authentication === undefined ? null : { ...authentication, credentials: authentication.credentials ?? null },
      version,
      created_at: timestamp(clock()),
    }
    const duty = await store.savePushConfig(config, owner(), settings.configs)
    if (duty === 'missing') throw notFound('run', runId)
    if (duty === 'full') {
      throw new AppError('invalid_request', `The task has ${settings.configs} push configs, the maximum. Delete one.`)
    }
    this.#send(runId, [duty])
    return toShown(config)
  }

  async list(runId: string): Promise<ShownTarget[]> {
    return (await this.#options.store.listPushConfigs(runId)).map(toShown)
  }

  async delete(runId: string, id: string): Promise<void> {
    await this.#options.store.deletePushConfig(runId, id)
    this.#notified.get(runId)?.drop(id)
  }

  /** The same store. A run that goes on after a pause, or is cancelled in it, is told of by this process from then on. */
  watching(store: SessionStore): SessionStore {
    return {
      ...store,
      resumeRun: async (resume) => {
        const resumed = await store.resumeRun(resume)
        if (resumed.outcome === 'resumed') void this.#take(resume.run_id)
        return resumed
      },
      finishRun: (end) => {
        const finishing = store.finishRun(end)
        // Without a fence: it had paused.
        if (end.fence === null) {
          finishing.then(
            (finished) => finished === 'ok' && void this.#take(end.run_id),
            () => {},
          )
        }
        return finishing
      },
    }
  }

  /** Sends what other processes that are gone have left. */
  takeUp(): void {
    const { timers, isShared } = this.#options
    if (this.#closing.signal.aborted) return
    timers.clear(this.#timer)
    if (isShared) this.#timer = timers.set(() => this.takeUp(), lookAgainMs)
    this.#timer?.unref()
    this.#adopting ??= this.#adopt()
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted)
          this.#options.logger.warn({ error }, 'left push notifications could not be read')
      })
      .finally(() => {
        this.#adopting = undefined
      })
  }

  /** Sends for a few seconds what is to be sent now. What is left is sent by the next process. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError('unavailable', 'The server is shutting down.'))
    this.#options.timers.clear(this.#timer)
    const sending = Promise.allSettled([...this.#notified.values()].map((run) => run.done))
    await this.#inTime(sending)
    await this.#outbox.close()
    await this.#inTime(Promise.all([sending, this.#adopting]))
  }

  async #inTime(work: Promise<unknown>): Promise<void> {
    const ended = new AbortController()
    await Promise.race([work, rest(this.#options.timers, lastNoticesMs, ended.signal)])
    ended.abort()
  }

  async #adopt(): Promise<void> {
    const { store, owner, timers } = this.#options
    const { signal } = this.#closing
    for (;;) {
      while (this.#notified.size >= most && !signal.aborted) await rest(timers, makeRoomMs, signal)
      if (signal.aborted) return
      const left = await store.adoptPushConfigs(owner(), adoptedAtOnce)
      for (const duty of left) this.#send(duty.run_id, [duty])
      if (left.length === 0) return
    }
  }

  async #take(runId: string): Promise<void> {
    const { store, owner, logger } = this.#options
    try {
      if ((await store.listPushConfigs(runId)).length === 0) return
      this.#send(runId, await store.takePushConfigs(runId, owner()))
    } catch (error) {
      logger.warn({ error, run_id: runId }, 'the push configs of a run could not be read')
    }
  }

  #send(runId: string, duties: readonly PushDuty[]): void {
    let run = this.#notified.get(runId)
    if (run === undefined) {
      const { store, runs, notice, logger, timers } = this.#options
      const closing = this.#closing.signal
      const made = new NotifiedRun({
        runId,
        store,
        runs: runs(),
        notice,
        logger,
        timers,
        outbox: this.#outbox,
        closing,
      })
      run = made
      this.#notified.set(runId, made)
      run.onIdle = () => {
        if (this.#notified.get(runId) === made) this.#notified.delete(runId)
      }
    }
    run.add(duties)
  }
}

function toShown({ run_id, config_id, url, version, created_at, authentication }: PushConfig): ShownTarget {
  return { run_id, config_id, url, version, created_at, scheme: authentication?.scheme ?? null }
}

import type { StoreCluster } from '../../core/cluster/cluster.ts'
import { AppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { isEnded, type RunHead, type RunRecord } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Timer, Timers } from '../../core/time.ts'
import { createRecordedRuns } from '../events/reader.ts'
import { readTail, Tail } from './tail.ts'

const tickMs = 500

export interface RemoteRunsOptions {
  cluster: Pick<StoreCluster, 'follow' | 'unfollow' | 'requestCancel'>
  store: SessionStore
  timers: Timers
  /** The events of a run that is live in this process. */
  here: (runId: string, after: number) => AsyncIterable<readonly RunEvent[]> | undefined
}

/** Runs that are under way on other instances: their record grows while it is read. */
export class RemoteRuns {
  readonly #options: RemoteRunsOptions
  readonly #recorded: Pick<ReturnType<typeof createRecordedRuns>, 'head' | 'get'>
  readonly #tails = new Map<string, Tail>()
  /** One for all tails: each is woken many times a second. */
  #ticks: Timer | undefined
  #closed: AppError | undefined

  constructor(options: RemoteRunsOptions) {
    this.#options = options
    this.#recorded = createRecordedRuns(options.store)
  }

  /** How many are followed. */
  get size(): number {
    return this.#tails.size
  }

  /** The events after this number until the end or pause of the run, as its owner shows them. */
  events(run: RunHead, after: number, signal?: AbortSignal): AsyncIterable<readonly RunEvent[]> {
    const { run_id: runId } = run
    const here = (from: number) => this.#options.here(runId, from)
    return readTail({ open: () => this.#open(runId), run, after, signal, here })
  }

  /** Resolves with the record when its end or pause is recorded. Throws `unavailable` when that takes longer. */
  async ended(runId: string, withinMs?: number): Promise<RunRecord> {
    const tail = this.#open(runId)
    try {
      return await this.#waitForEnd(runId, tail, withinMs)
    } finally {
      tail.release()
    }
  }

  /** Asks its owner to end it, and waits for that. Undefined: it is not under way. */
  async cancel(runId: string, reason: string, withinMs: number): Promise<RunRecord | undefined> {
    // Before the run is asked to end: the wake-up for its end is wanted.
    const tail = this.#open(runId)
    try {
      if ((await this.#options.cluster.requestCancel(runId, reason)) === 'not_running') return undefined
      return await this.#waitForEnd(runId, tail, withinMs)
    } finally {
      tail.release()
    }
  }

  wake(runId: string): void {
    this.#tails.get(runId)?.wake()
  }

  wakeAll(): void {
    for (const tail of this.#tails.values()) tail.wake()
  }

  /** Its readers are told to go on elsewhere. */
  close(failure: AppError): void {
    this.#closed = failure
    this.#stopTicks()
    for (const tail of [...this.#tails.values()]) tail.close(failure)
  }

  async #waitForEnd(runId: string, tail: Tail, withinMs = Number.POSITIVE_INFINITY): Promise<RunRecord> {
    let isLate = false
    const late = () => {
      isLate = true
      tail.nudge()
    }
    const timer = Number.isFinite(withinMs) ? this.#options.timers.set(late, withinMs) : undefined
    try {
      while (!isLate) {
        const { wakes } = tail
        const { status } = await tail.head()
        if (isEnded(status)) return await this.#recorded.get(runId)
        if (!isLate) await tail.wait(wakes)
      }
    } finally {
      this.#options.timers.clear(timer)
    }
    const message = 'The instance that has the run has not ended it yet. Retry later.'
    throw new AppError('unavailable', message, { runId, retryAfterSeconds: 5 })
  }

  #open(runId: string): Tail {
    if (this.#closed !== undefined) throw this.#closed
    let tail = this.#tails.get(runId)
    if (tail === undefined) {
      const { cluster, store, timers } = this.#options
      tail = new Tail({
        // Not by the shared pages: they are of runs that do not grow.
        read: (after, limit) => store.readEvents(runId, after, limit),
        head: () => this.#recorded.head(runId),
        onIdle: () => {
          this.#tails.delete(runId)
          cluster.unfollow(runId)
          if (this.#tails.size === 0) this.#stopTicks()
        },
      })
      this.#tails.set(runId, tail)
      cluster.follow(runId)
      this.#ticks ??= timers.set(() => this.#tick(), tickMs)
    }
    tail.attach()
    return tail
  }

  #tick(): void {
    for (const tail of this.#tails.values()) tail.tick()
    this.#ticks?.refresh()
  }

  #stopTicks(): void {
    this.#options.timers.clear(this.#ticks)
    this.#ticks = undefined
  }
}

import { AppError } from '../../core/error.ts'
import { isEnded, isTry, type RunRecord } from '../../core/run.ts'
import type { ClaimRecord, RunResumed, RunStarted } from '../../core/run-write.ts'
import { timestamp } from '../../core/time.ts'
import { DenseMap } from '../../runtime/dense-map.ts'
import type { RunExecution } from '../execution/execution.ts'
import { isRetryable } from '../execution/failure.ts'
import { placeOf } from './place.ts'
import { SessionQueue } from './queue.ts'
import { toRefusal } from './request.ts'
import type { RunServices } from './run-services.ts'
import { SharedTurns } from './shared-turns.ts'

const retryBeginMs = 500
const lastEndsMs = 3_000

/** What the store says of a start or a resumption; `fence` alone: it was durable already. */
type Committed = RunStarted | RunResumed | { fence: number }

/** When an admitted run begins: before its start is durable, as soon as it is, or when the session's queue reaches it. */
export type Beginning = 'early' | 'durable' | 'queued'

/** The runs of this process that have not ended, by id and in the queues of their sessions. */
export class LiveRuns {
  readonly queues = new SessionQueue((execution) => void this.#beginQueued(execution))
  readonly #services: RunServices
  readonly #onRunEnd: ((run: RunRecord) => void) | undefined
  readonly #runs = new DenseMap<string, RunExecution>()
  /** Queued runs whose `beginRun` is on its way to the store. */
  readonly beginning = new Set<string>()
  readonly #shared: SharedTurns | undefined
  #closing = false

  constructor(services: RunServices, onRunEnd: ((run: RunRecord) => void) | undefined) {
    this.#services = services
    this.#onRunEnd = onRunEnd
    const { peers } = services
    this.#shared = peers && new SharedTurns(services, peers, this)
  }

  get(runId: string): RunExecution | undefined {
    return this.#runs.get(runId)
  }

  get size(): number {
    return this.#runs.size
  }

  ids(): string[] {
    return this.#runs.values().map(({ run }) => run.run_id)
  }

  get closing(): boolean {
    return this.#closing
  }

  assertOpen(): void {
    if (this.#closing) throw shuttingDown(1)
    if (this.#services.peers?.isHeld === true) throw held()
  }

  /**
   * Makes a run live, commits its start, and begins it. What the store refuses or fails to commit is discarded and throws. An
   * earlier start with the same idempotency key is given instead.
   */
  async admit(
    execution: RunExecution,
    commit: () => Promise<Committed> | Committed,
    beginning: Beginning,
  ): Promise<ClaimRecord | undefined> {
    this.#runs.set(execution.run.run_id, execution)
    let committed: Committed
    try {
      const committing = commit()
      if (beginning === 'early') execution.begin()
      committed = committing instanceof Promise ? await committing : committing
    } catch (error) {
      execution.discard(error)
      throw error
    }
    if ('fence' in committed) {
      execution.startIsDurable(committed.fence)
      if (this.#shared !== undefined) void this.#shared.admitted(execution, committed, beginning)
      else if (beginning === 'durable') execution.begin()
      else if (beginning === 'queued' && !execution.run.background) execution.startClock()
      return undefined
    }
    const refusal = toRefusal(committed, execution.run, execution.options.replaces)
    execution.discard(refusal)
    if (committed.outcome === 'claimed') return committed.claim
    throw refusal
  }

  /** Puts a background run whose start is durable into its session's queue. */
  enqueue(execution: RunExecution): void {
    if (this.queues.enter(execution, 'enqueue')) void this.#beginQueued(execution)
  }

  async #beginQueued(execution: RunExecution): Promise<void> {
    if (this.#shared !== undefined) return this.#shared.begin(execution)
    if (execution.ended || this.#closing) return
    const { store, clock, timers, logger } = this.#services
    const { run_id: runId, background } = execution.run
    this.beginning.add(runId)
    try {
      const begun = await store.beginRun(runId, execution.fence, timestamp(clock()))
      if (begun === 'begun') execution.begin()
      else if (begun === 'wait') throw new AppError('conflict', 'The session already has a running run.')
      else execution.cancel('session_deleted')
    } catch (error) {
      logger.error({ error, run_id: runId }, 'a queued run could not start')
      if (!background || !isRetryable(error)) return execution.fail(error)
      timers.set(() => void this.#beginQueued(execution), retryBeginMs).unref()
    } finally {
      this.beginning.delete(runId)
    }
  }

  /** The end of a run is durable, or was given up, or its start was refused. */
  readonly leave = (execution: RunExecution): void => {
    this.#runs.delete(execution.run.run_id)
    this.#shared?.forget(execution.run.run_id)
    const { tracing } = this.#services
    if (tracing !== undefined && isEnded(execution.run.status)) tracing.ended(execution.run, placeOf(execution))
    if (execution.parent !== undefined) return
    if (!isTry(execution.run)) this.queues.leave(execution)
    if (isEnded(execution.run.status)) this.#onRunEnd?.(execution.run)
  }

  /** The turn of one waiting run may have come; without an id, that of any. */
  takeTurn(runId?: string): void {
    this.#shared?.take(runId)
  }

  /** Another instance has all of them now. */
  abandon(): void {
    this.queues.clear()
    const inmostFirst = this.#runs.values().toSorted((one, other) => depthOf(other) - depthOf(one))
    for (const execution of inmostFirst) execution.abandon()
  }

  /** Shows what was held back. */
  release(): void {
    for (const execution of this.#runs.values()) execution.release()
  }

  /** Cancels all runs of a session; resolves when that is recorded. */
  async cancelSession(sessionId: string, reason: string): Promise<void> {
    const tries = this.#runs.values().filter(({ run, parent }) => {
      return run.session_id === sessionId && parent === undefined && isTry(run)
    })
    const executions = [...this.queues.of(sessionId), ...tries]
    for (const execution of executions.toReversed()) execution.cancel(reason)
    await Promise.allSettled(executions.map(({ done }) => done))
  }

  /** Resolves when the runs that are live now have ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#runs.values().map(({ done }) => done))
  }

  async shutdown(deadlineMs: number): Promise<void> {
    this.#closing = true
    this.#shared?.close()
    this.#services.peers?.endTails(shuttingDown(1))
    const all = this.#runs.values()
    const staying = new Set(all.filter((execution) => execution.run.background && this.#isQueued(execution)))
    for (const execution of staying) execution.log.close(shuttingDown())
    const going = all.filter((execution) => !staying.has(execution))
    for (const execution of going) if (this.#isQueued(execution)) execution.cancel('shutdown')
    const { timers } = this.#services
    const timer = timers.set(() => {
      for (const execution of going) execution.cancel('shutdown')
    }, deadlineMs)
    // A store that is away may keep the ends of runs waiting.
    const late = this.#shared && timers.set(() => this.abandon(), deadlineMs + lastEndsMs)
    await Promise.allSettled(going.map(({ done }) => done))
    timers.clear(timer)
    timers.clear(late)
    // Another instance takes over what waits, and what could not be ended.
    if (this.#shared !== undefined) this.abandon()
  }

  #isQueued({ run, ended }: RunExecution): boolean {
    return run.status === 'queued' && !ended && !this.beginning.has(run.run_id)
  }
}

function depthOf({ parent }: RunExecution): number {
  return parent === undefined ? 0 : 1 + depthOf(parent)
}

function held(): AppError {
  const message = 'The server has lost touch with its store and the other instances. Retry later.'
  return new AppError('unavailable', message, { retryAfterSeconds: 3 })
}

function shuttingDown(retryAfterSeconds?: number): AppError {
  return new AppError('unavailable', 'The server is shutting down.', { retryAfterSeconds })
}

import { logLevelOf } from '../../core/error.ts'
import type { RunBegun, RunResumed, RunStarted } from '../../core/run-write.ts'
import { type Timer, timestamp } from '../../core/time.ts'
import type { RunExecution } from '../execution/execution.ts'
import { isRetryableAmong } from '../execution/failure.ts'
import type { Beginning, LiveRuns } from './live.ts'
import type { RunPeers, RunServices } from './run-services.ts'

/** A wake-up may be lost. */
const turnMs = 1_000
/** More than may wait in a session. */
const queuedAtOnce = 200

type LiveOnes = Pick<LiveRuns, 'get' | 'queues' | 'closing' | 'beginning'>

/**
 * How runs begin where other instances may have runs of the same session: the store decides whose turn it is, and the queue here
 * is only the order in which this instance asks. The current run of a session may thus wait; it asks again when it is woken,
 * and once a second.
 */
export class SharedTurns {
  readonly #services: RunServices
  readonly #peers: RunPeers
  readonly #live: LiveOnes
  readonly #waiting = new Map<string, Timer>()
  readonly #asking = new Set<string>()
  /** Woken while they asked. */
  readonly #woken = new Set<string>()

  constructor(services: RunServices, peers: RunPeers, live: LiveOnes) {
    this.#services = services
    this.#peers = peers
    this.#live = live
  }

  /** Begins a run whose start is durable, now or when it is its turn. */
  async admitted(
    execution: RunExecution,
    committed: RunStarted | RunResumed | { fence: number },
    beginning: Beginning,
  ): Promise<void> {
    if (beginning === 'early') return
    const { run } = execution
    const waits = 'outcome' in committed && committed.outcome === 'queued'
    if (beginning === 'durable' && !waits) {
      if (this.#peers.isHeld) await this.#peers.released()
      return execution.begin()
    }
    run.status = 'queued'
    run.started_at = null
    if (!run.background) execution.startClock()
    await this.begin(execution)
  }

  /** Begins the current run of a session, if the store allows it. */
  async begin(execution: RunExecution): Promise<void> {
    const { run_id: runId } = execution.run
    if (!this.#mayBegin(execution)) return
    if (this.#asking.has(runId)) return void this.#woken.add(runId)
    this.forget(runId)
    this.#asking.add(runId)
    const begun = await this.#ask(execution).finally(() => this.#asking.delete(runId))
    if (begun === 'begun') execution.begin()
    else if (begun === 'gone') execution.cancel('session_deleted')
    else this.#wait(execution)
  }

  /** The turn of a waiting run may have come; without an id, that of any. */
  take(runId?: string): void {
    for (const id of runId === undefined ? [...this.#waiting.keys()] : [runId]) {
      const execution = this.#live.get(id)
      if (execution === undefined) continue
      this.#promote(execution)
      void this.begin(execution)
    }
  }

  forget(runId: string): void {
    this.#services.timers.clear(this.#waiting.get(runId))
    this.#waiting.delete(runId)
    this.#woken.delete(runId)
  }

  close(): void {
    for (const runId of [...this.#waiting.keys()]) this.forget(runId)
  }

  #mayBegin(execution: RunExecution): boolean {
    const { queues, closing } = this.#live
    const { run, ended, isDurable } = execution
    return !ended && !closing && isDurable && run.status === 'queued' && queues.isCurrent(execution)
  }

  async #ask(execution: RunExecution): Promise<RunBegun> {
    const { store, clock, logger } = this.#services
    const { run_id: runId } = execution.run
    if (this.#peers.isHeld) await this.#peers.released()
    if (!this.#mayBegin(execution)) return 'wait'
    this.#live.beginning.add(runId)
    try {
      const begun = await store.beginRun(runId, execution.fence, timestamp(clock()))
      if (begun !== 'gone') return begun
      // One that was asked to end begins no more; the request to end it comes with the next beat at the latest.
      const head = await (store.findRunHead?.(runId) ?? store.findRun(runId))
      return head?.status === 'queued' ? 'wait' : 'gone'
    } catch (error) {
      logger[logLevelOf(error)]({ error, run_id: runId }, 'a queued run could not start')
      if (!isRetryableAmong(this.#peers, error)) execution.fail(error)
      return 'wait'
    } finally {
      this.#live.beginning.delete(runId)
    }
  }

  #wait(execution: RunExecution): void {
    if (!this.#mayBegin(execution)) return
    const { run_id: runId, session_id: sessionId } = execution.run
    if (this.#woken.delete(runId)) return void this.begin(execution)
    const timer = this.#services.timers.set(() => {
      this.#waiting.delete(runId)
      void this.begin(execution)
    }, turnMs)
    timer.unref()
    this.#waiting.set(runId, timer)
    if (this.#live.queues.of(sessionId).length > 1) void this.#letEarlier(execution)
  }

  /** A run of the queue here may have been stored before its current one: it was taken over, or their starts overtook each other. */
  async #letEarlier({ run: { run_id: before, session_id: sessionId } }: RunExecution): Promise<void> {
    const { store, logger } = this.#services
    try {
      const filter = { session_id: sessionId, status: 'queued', before } as const
      const { items } = await store.listRuns(filter, { limit: queuedAtOnce, cursor: undefined })
      const earlier = items.flatMap(({ run_id: runId }) => this.#live.get(runId) ?? []).at(-1)
      if (earlier !== undefined && this.#promote(earlier)) await this.begin(earlier)
    } catch (error) {
      logger.warn({ error, session_id: sessionId }, 'the waiting runs of a session could not be read')
    }
  }

  #promote(execution: RunExecution): boolean {
    const { queues } = this.#live
    const [current] = queues.of(execution.run.session_id)
    if (current === undefined || current === execution || this.#asking.has(current.run.run_id)) return false
    if (!queues.promote(execution)) return false
    this.forget(current.run.run_id)
    return true
  }
}

import { isAppError } from '../../core/error.ts'
import { RunFold } from '../../core/events/fold.ts'
import { isEnded, type Run, type RunHead, type RunRecord } from '../../core/run.ts'
import { toSnapshot } from '../execution/end.ts'
import type { RunHandle } from '../services.ts'
import { recordedHandle } from './handle.ts'
import type { LiveRuns } from './live.ts'
import type { RunPeers, RunServices } from './run-services.ts'

const runsAtOnce = 100
/** For an owner that is alive; one that died is found out later. */
const endWithinMs = 25_000

/** The runs of the store that are not live in this process. Without peers none of them is under way. */
export class RunsElsewhere {
  readonly #services: RunServices
  readonly #live: LiveRuns

  constructor(services: RunServices, live: LiveRuns) {
    this.#services = services
    this.#live = live
  }

  /** The peers, for a run that is recorded as under way and not live here. */
  of({ status }: Pick<Run, 'status'>): RunPeers | undefined {
    return isEnded(status) ? undefined : this.#services.peers
  }

  /** Of a run that is not live here. `from`: the events after this number, unless its reader names another. */
  handle(run: RunRecord, from = 0): RunHandle {
    const peers = this.of(run)
    if (peers === undefined) return recordedHandle(run, this.#services.recorded, from)
    return {
      runId: run.run_id,
      sessionId: run.session_id,
      replayed: true,
      events: (after = from) => peers.events(run, after),
      result: () => peers.ended(run.run_id),
    }
  }

  /** With the output that is recorded so far. */
  async snapshot(run: RunRecord): Promise<RunRecord> {
    if (run.status !== 'running' || this.#services.peers === undefined) return run
    const { store } = this.#services
    const fold = new RunFold()
    for (let after = 0; ; ) {
      const page = await store.readEvents(run.run_id, after, runsAtOnce)
      const last = page.at(-1)
      if (last === undefined) return toSnapshot(run, fold)
      fold.addRecorded(page)
      after = last.seq
    }
  }

  /** The record of a run that is asked to end; undefined when it is not under way elsewhere. */
  async cancel(run: RunHead, reason: string): Promise<RunRecord | undefined> {
    return this.of(run)?.cancel(run.run_id, reason, endWithinMs)
  }

  /** The turn that is under way or waits and came last. */
  async newestOf(sessionId: string): Promise<RunHead | undefined> {
    if (this.#services.peers === undefined) return undefined
    for (const status of ['queued', 'running'] as const) {
      for await (const { run_id: runId, parent_run_id: parent } of this.#activeOf(sessionId, status)) {
        if (parent === null) return this.#live.get(runId)?.run ?? this.#services.recorded.head(runId)
      }
    }
    return undefined
  }

  /** Asks all turns of the session that came before this one to end. */
  async supersede({ run_id: before, session_id: sessionId }: RunHead): Promise<void> {
    try {
      for (const status of ['queued', 'running'] as const) {
        for await (const { run_id: runId, parent_run_id: parent } of this.#activeOf(sessionId, status, { before })) {
          if (parent === null && this.#live.get(runId) === undefined) await this.ask(runId, 'superseded')
        }
      }
    } catch (error) {
      this.#services.logger.warn({ error, run_id: before }, 'the runs before an interrupting run could not be read')
    }
  }

  /** Asks a run to end, if it is under way on another instance. */
  async ask(runId: string, reason: string): Promise<void> {
    const { peers, logger } = this.#services
    await peers?.ask(runId, reason).catch((error: unknown) => {
      logger.warn({ error, run_id: runId }, 'a run on another instance could not be asked to end')
    })
  }

  /**
   * Cancels all runs of the session; resolves when that is recorded. Throws `unavailable` when an instance neither ends its run
   * nor is found dead: it would go on telling of it.
   */
  async cancelSession(sessionId: string, reason: string): Promise<void> {
    const { peers } = this.#services
    if (peers === undefined) return
    const runIds: string[] = []
    for (const status of ['queued', 'running'] as const) {
      for await (const { run_id: runId, parent_run_id: parent } of this.#activeOf(sessionId, status, { again: true })) {
        if (parent === null && this.#live.get(runId) === undefined) runIds.push(runId)
      }
    }
    await Promise.all(
      runIds.map((runId) =>
        peers.cancel(runId, reason, endWithinMs).catch((error: unknown) => {
          if (!isAppError(error) || error.code !== 'run_not_found') throw error
        }),
      ),
    )
  }

  /** Newest first. */
  async *#activeOf(
    sessionId: string,
    status: 'queued' | 'running',
    more: { before?: string; again?: boolean } = {},
  ): AsyncGenerator<Run> {
    for (let cursor: string | undefined; ; ) {
      const filter = { session_id: sessionId, status, ...more }
      const page = await this.#services.store.listRuns(filter, { limit: runsAtOnce, cursor })
      yield* page.items
      if (page.next === null) return
      cursor = page.next
    }
  }
}

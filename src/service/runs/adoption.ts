import type { Logger } from '../../core/logger.ts'
import type { RunRecord } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { Recovered } from '../../core/store.ts'
import type { RunExecution } from '../execution/execution.ts'
import type { Registry } from '../services.ts'
import type { LiveRuns } from './live.ts'
import type { PreparedRun } from './prepare.ts'

/** A queued run of an earlier process, or of another instance. */
export type QueuedRun = Recovered['queued'][number]

interface Options {
  live: LiveRuns
  registry: Registry
  logger: Logger
  prepare: (prepared: Omit<PreparedRun, 'live' | 'children'>) => RunExecution
}

/** Takes up queued runs that another process has left. */
export class Adoption {
  readonly #options: Options
  /** Those whose entity is not registered. */
  readonly #stranded = new Map<string, QueuedRun>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Also those that waited for their entity. */
  adopt(queued: readonly QueuedRun[]): void {
    for (const one of [...this.#stranded.values(), ...queued]) this.#adopt(one)
  }

  /** A live run, or one that waits for its entity, to be cancelled. */
  find(runId: string): RunExecution | undefined {
    const left = this.#stranded.get(runId)
    return left === undefined ? this.#options.live.get(runId) : this.#takeUp(left, noRunnable)
  }

  newestOf(sessionId: string): RunRecord | undefined {
    return [...this.#stranded.values()].findLast(({ run }) => run.session_id === sessionId)?.run
  }

  /** Another instance has them now. */
  abandon(): void {
    this.#stranded.clear()
  }

  #adopt(queued: QueuedRun): void {
    const { live, registry, logger } = this.#options
    const { run_id: runId, entity_id: entityId } = queued.run
    const runnable = registry.find(entityId)
    if (runnable !== undefined) live.enqueue(this.#takeUp(queued, runnable))
    else if (!this.#stranded.has(runId)) {
      this.#stranded.set(runId, queued)
      logger.warn({ run_id: runId, entity_id: entityId }, 'a queued run names an unknown entity; it stays queued')
    }
  }

  #takeUp({ run, fence, unchecked }: QueuedRun, runnable: Runnable): RunExecution {
    this.#stranded.delete(run.run_id)
    const { prepare, live } = this.#options
    const execution = prepare({ run, runnable, mode: 'background', unchecked, isAdopted: true })
    void live.admit(execution, () => ({ fence }), 'queued')
    return execution
  }
}

/** Stands for the missing entity of a run that is cancelled. */
const noRunnable: Runnable = { kind: 'agent', tools: [], knowledge: false, sideEffects: true, async *run() {} }

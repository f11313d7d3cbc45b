import { AppError } from '../../core/error.ts'
import { TurnoverMap } from '../../runtime/turnover-map.ts'
import type { MultitaskStrategy } from '../services.ts'
import type { RunExecution } from './execution.ts'

/** Runs that may wait in one session. */
export const queueLimit = 100

interface Lane {
  current: RunExecution
  waiting: RunExecution[]
}

/** One lane a session: at most one run under way, the others wait their turn in the order they came. */
export class SessionLanes {
  readonly #lanes = new TurnoverMap<string, Lane>()
  readonly #begin: (execution: RunExecution) => void

  /** `begin` is called when a waiting run's turn has come. */
  constructor(begin: (execution: RunExecution) => void) {
    this.#begin = begin
  }

  isBusy(sessionId: string): boolean {
    return this.#lanes.has(sessionId)
  }

  /** Throws `conflict` or `rate_limited` when a run of this strategy would not be let in. */
  assertRoom(sessionId: string, strategy: MultitaskStrategy): void {
    const lane = this.#lanes.get(sessionId)
    if (lane === undefined) return
    if (strategy === 'reject') {
      throw new AppError('conflict', `Session '${sessionId}' is already running something.`, { sessionId })
    }
    // What an interrupt supersedes keeps its place until that is recorded: callers that are faster than the disk wait too.
    const ahead = strategy === 'interrupt' ? lane.waiting.filter((execution) => execution.ended) : lane.waiting
    if (ahead.length >= queueLimit) {
      const message = `${queueLimit} runs are already waiting in session '${sessionId}'.`
      throw new AppError('rate_limited', message, { sessionId, retryAfterSeconds: 1 })
    }
  }

  /** True: it is the session's current run now. False: it waits, behind whatever it did not supersede. */
  enter(execution: RunExecution, strategy: MultitaskStrategy): boolean {
    const sessionId = execution.run.session_id
    const lane = this.#lanes.get(sessionId)
    if (lane === undefined) {
      this.#lanes.set(sessionId, { current: execution, waiting: [] })
      return true
    }
    const others = strategy === 'interrupt' ? [...lane.waiting, lane.current] : []
    lane.waiting.push(execution)
    for (const other of others) other.cancel('superseded')
    return false
  }

  /** The run has ended, wherever it stood. */
  leave(execution: RunExecution): void {
    const sessionId = execution.run.session_id
    const lane = this.#lanes.get(sessionId)
    if (lane === undefined) return
    if (lane.current !== execution) {
      lane.waiting = lane.waiting.filter((other) => other !== execution)
      return
    }
    const next = lane.waiting.shift()
    if (next === undefined) this.#lanes.delete(sessionId)
    else {
      lane.current = next
      this.#begin(next)
    }
  }

  /** Everything of a session, the current run first. */
  of(sessionId: string): RunExecution[] {
    const lane = this.#lanes.get(sessionId)
    return lane === undefined ? [] : [lane.current, ...lane.waiting]
  }
}

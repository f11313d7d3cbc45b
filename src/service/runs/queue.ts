import { AppError } from '../../core/error.ts'
import { TurnoverMap } from '../../runtime/turnover-map.ts'
import type { MultitaskStrategy } from '../services.ts'
import type { RunExecution } from './execution.ts'

/** Runs that may wait in one session. */
export const queueLimit = 100

interface Queue {
  current: RunExecution
  waiting: RunExecution[]
}

/** One queue a session: at most one run under way, the others wait their turn in the order they came. */
export class SessionQueue {
  readonly #queues = new TurnoverMap<string, Queue>()
  readonly #begin: (execution: RunExecution) => void

  /** `begin` is called when a waiting run's turn has come. */
  constructor(begin: (execution: RunExecution) => void) {
    this.#begin = begin
  }

  isBusy(sessionId: string): boolean {
    return this.#queues.has(sessionId)
  }

  /** Throws `conflict` or `rate_limited` when a run of this strategy would not be let in. */
  assertRoom(sessionId: string, strategy: MultitaskStrategy): void {
    const queue = this.#queues.get(sessionId)
    if (queue === undefined) return
    if (strategy === 'reject') {
      throw new AppError(
        'conflict',
        `Session '${sessionId}' already has an active run. Wait until it ends, or use another multitask_strategy.`,
        { sessionId },
      )
    }
    // What an interrupt supersedes keeps its place until that is recorded: callers that are faster than the disk wait too.
    const ahead = strategy === 'interrupt' ? queue.waiting.filter((execution) => execution.ended) : queue.waiting
    if (ahead.length >= queueLimit) {
      const message = `Session '${sessionId}' already has ${queueLimit} runs in its queue. Retry later.`
      throw new AppError('rate_limited', message, { sessionId, retryAfterSeconds: 1 })
    }
  }

  /** True: it is the session's current run now. False: it waits, behind whatever it did not supersede. */
  enter(execution: RunExecution, strategy: MultitaskStrategy): boolean {
    const sessionId = execution.run.session_id
    const queue = this.#queues.get(sessionId)
    if (queue === undefined) {
      this.#queues.set(sessionId, { current: execution, waiting: [] })
      return true
    }
    const others = strategy === 'interrupt' ? [...queue.waiting, queue.current] : []
    queue.waiting.push(execution)
    for (const other of others) other.cancel('superseded')
    return false
  }

  /** The run has ended, wherever it stood. */
  leave(execution: RunExecution): void {
    const sessionId = execution.run.session_id
    const queue = this.#queues.get(sessionId)
    if (queue === undefined) return
    if (queue.current !== execution) {
      queue.waiting = queue.waiting.filter((other) => other !== execution)
      return
    }
    const next = queue.waiting.shift()
    if (next === undefined) this.#queues.delete(sessionId)
    else {
      queue.current = next
      this.#begin(next)
    }
  }

  /** Everything of a session, the current run first. */
  of(sessionId: string): RunExecution[] {
    const queue = this.#queues.get(sessionId)
    return queue === undefined ? [] : [queue.current, ...queue.waiting]
  }
}

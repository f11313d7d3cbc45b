import { AppError } from '../../core/error.ts'
import { DenseMap } from '../../runtime/dense-map.ts'
import type { RunExecution } from '../execution/execution.ts'
import type { MultitaskStrategy } from '../services.ts'

/** Maximum number of waiting runs per session. */
export const queueLimit = 100

interface Queue {
  current: RunExecution
  waiting: RunExecution[]
}

/** One queue per session: at most one run is active; the rest wait in FIFO order. */
export class SessionQueue {
  readonly #queues = new DenseMap<string, Queue>()
  readonly #begin: (execution: RunExecution) => void

  /** `begin` is called when a waiting run becomes its session's current run. */
  constructor(begin: (execution: RunExecution) => void) {
    this.#begin = begin
  }

  /** Throws `conflict` or `rate_limited` when a run with this strategy would be refused. */
  assertRoom(sessionId: string, strategy: MultitaskStrategy): void {
    const queue = this.#queues.get(sessionId)
    if (queue === undefined) return
    if (strategy === 'reject') {
      const message = `Session '${sessionId}' already has an active run. Wait until it ends, or use another multitask_strategy.`
      throw new AppError('conflict', message, { sessionId })
    }
    // A superseded run keeps its slot until its end is recorded, so that callers can't outrun the disk.
    const ahead = strategy === 'interrupt' ? queue.waiting.filter((execution) => execution.ended) : queue.waiting
    if (ahead.length >= queueLimit) throw queueIsFull(sessionId)
  }

  /** True: it is the session's current run now. False: it waits for the runs before it. `interrupt` cancels those. */
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

  /** Removes a run that has ended, whether it was current or waiting. */
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

  isCurrent(execution: RunExecution): boolean {
    return this.#queues.get(execution.run.session_id)?.current === execution
  }

  /** Makes a waiting run the current one, in place of another that waits; false when that is not so. */
  promote(execution: RunExecution): boolean {
    const queue = this.#queues.get(execution.run.session_id)
    if (queue === undefined || !queue.waiting.includes(execution) || queue.current.run.status !== 'queued') return false
    queue.waiting = [queue.current, ...queue.waiting.filter((other) => other !== execution)]
    queue.current = execution
    return true
  }

  clear(): void {
    for (const { current } of this.#queues.values()) this.#queues.delete(current.run.session_id)
  }

  /** All runs of a session, the current one first. */
  of(sessionId: string): RunExecution[] {
    const queue = this.#queues.get(sessionId)
    return queue === undefined ? [] : [queue.current, ...queue.waiting]
  }
}

export function queueIsFull(sessionId: string): AppError {
  const message = `Session '${sessionId}' already has ${queueLimit} runs in its queue. Retry later.`
  return new AppError('rate_limited', message, { sessionId, retryAfterSeconds: 1 })
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { AgentContext, RunContext } from '../../core/runnable.ts'

const running = new AsyncLocalStorage<RunContext>()

/** The context of the current run, in any code that it calls. Throws `internal` outside a run. */
export function runContext<STATE extends object = JsonObject>(): AgentContext<STATE> {
  const context = running.getStore()
  if (context === undefined)
    throw new AppError(
      'internal',
      'runContext() was called outside a run. Call it in an agent, a tool or a workflow step.',
    )
  return context as unknown as AgentContext<STATE>
}

/** The context of the code that is running; the given one where there is none. */
export function contextHere(context: RunContext): RunContext {
  return running.getStore() ?? context
}

/** Does work whose code gets this context. */
export function withContext<T>(context: RunContext, work: () => T): T {
  return running.run(context, work)
}

export function insideRun<T>(context: RunContext, work: () => AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = running.run(context, () => work()[Symbol.asyncIterator]())
      return {
        next: () => running.run(context, () => iterator.next()),
        return: async () => {
          await running.run(context, () => iterator.return?.())
          return { done: true, value: undefined }
        },
      }
    },
  }
}

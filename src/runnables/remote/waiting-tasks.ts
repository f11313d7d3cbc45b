import { messageOf } from '../../core/error.ts'
import type { InputRequired } from '../../core/event.ts'
import type { Logger } from '../../core/logger.ts'
import { isObject } from '../../schema/field.ts'

/** Cancels a task of one peer. */
type CancelTask = (taskId: string) => Promise<void>

/** By what names a peer in the record: a run that waits has no code that runs, and its agent may be in the tools of another. */
const peers = new Map<string, CancelTask>()

/** The last one of a name counts: a configuration is loaded again and again. */
export function knowPeer(target: string, cancel: CancelTask): void {
  peers.set(target, cancel)
}

/** Cancels the tasks of peers that wait for answers to these requests. */
export function cancelWaitingTasks(requests: readonly InputRequired[], logger: Logger): void {
  for (const { messages } of requests) {
    const { target, task_id: taskId } = isObject(messages) && isObject(messages.remote) ? messages.remote : {}
    const cancel = typeof target === 'string' ? peers.get(target) : undefined
    if (cancel === undefined || typeof taskId !== 'string') continue
    cancel(taskId).catch((error: unknown) => {
      logger.warn({ task: taskId, reason: messageOf(error) }, 'a task of a remote agent could not be cancelled')
    })
  }
}

import { AppError, messageOf, toAppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Run, RunError, RunRecord } from '../../core/run.ts'
import type { RunEnd } from '../../core/run-write.ts'
import type { ExecutionOptions, RunEnding } from './options.ts'

/** The error of a run whose output the store refuses. */
export const unrecordable: RunError = {
  code: 'internal',
  message: "The run's output could not be recorded. The server's log has the details.",
}
/** The end of a run that was deleted with its session. */
export const deletedWithSession = {
  status: 'cancelled',
  cancellation_reason: 'session_deleted',
  error: null,
  waiting: [],
} as const

/** The end of a run as the store takes it. */
export function toEnd(
  ended: RunRecord,
  fence: number | null,
  events: RunEvent[],
  state: JsonObject | undefined,
): RunEnd {
  return {
    run_id: ended.run_id,
    fence,
    status: ended.status as RunEnd['status'],
    completed_at: ended.completed_at ?? '',
    end_seq: ended.end_seq ?? 0,
    cancellation_reason: ended.cancellation_reason,
    error: ended.error,
    cache_hit: ended.cache_hit,
    usage: ended.usage,
    ...(ended.usage_by_model && { usage_by_model: ended.usage_by_model }),
    events,
    messages: ended.messages.slice(1),
    sources: ended.sources,
    ...(ended.waiting.length === 0 ? {} : { waiting: ended.waiting }),
    ...(state === undefined ? {} : { state }),
  }
}

/**
 * A run that fails or is cancelled before it said anything gives back the place of the turns that it replaced. `options`: of
 * a run in this process, which may know that it has replaced none.
 */
export function silentEnd(
  { status, messages }: Pick<RunRecord, 'status' | 'messages'>,
  options?: ExecutionOptions,
): Pick<RunEnd, 'bringsBack'> | undefined {
  if (options !== undefined) {
    const { replaces, before, isAdopted } = options
    if (replaces === undefined && before === undefined && isAdopted !== true) return undefined
  }
  return (status === 'failed' || status === 'cancelled') && messages.length < 2 ? { bringsBack: true } : undefined
}

/** Whether the same write may succeed later: the disk is full, or the file is locked. */
export function isRetryable(error: unknown): boolean {
  const { code, retryAfterSeconds } = toAppError(error)
  return code === 'storage_full' || (code === 'unavailable' && retryAfterSeconds !== undefined)
}

/** The error for the clients of a run, with its ids. */
export function aboutRun(error: unknown, { run_id: runId, session_id: sessionId }: Run): AppError {
  const { code, message, retryAfterSeconds } = toAppError(error)
  return new AppError(code, message, { cause: error, retryAfterSeconds, runId, sessionId })
}

/** The message of an AppError is meant for users; that of any other error may hold secrets. */
export function toRunError(error: unknown): RunError {
  const known = toAppError(error)
  if (known.code === 'internal') {
    const name = nameOf(error)
    return { code: 'run_failed', message: `The agent threw an error (${name}). The server's log has the details.` }
  }
  return { code: String(known.code), message: messageOf(known) }
}

/** How a run ends whose runnable threw this. */
export function toEnding(error: unknown): RunEnding {
  const { code, message, runId } = toAppError(error)
  // No `runId`: the runnable raised this about its own run (approval denied, or resumable).
  if (code === 'run_cancelled' && runId === undefined) return { status: 'cancelled', reason: message }
  if (code === 'run_interrupted' && runId === undefined) return { status: 'interrupted', error: { code, message } }
  return { status: 'failed', error: toRunError(error) }
}

function nameOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.name === 'string' ? error.name : 'Error'
  } catch {
    return 'Error'
  }
}

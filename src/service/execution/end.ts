import type { RunEvent } from '../../core/event.ts'
import type { RunFold } from '../../core/events/fold.ts'
import { createId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import type { RunRecord } from '../../core/run.ts'
import type { RunEnd } from '../../core/run-write.ts'
import { toWaiting } from '../../core/waiting.ts'
import type { ExecutionOptions, RunEnding } from './options.ts'

/** The end of a run whose output the store refuses. */
export const unrecordable = {
  status: 'failed',
  error: {
    code: 'internal',
    message: "The run's output could not be recorded. The server's log has the details.",
  },
} as const
/** The end of a run that was deleted with its session. */
export const deletedWithSession = {
  status: 'cancelled',
  cancellation_reason: 'session_deleted',
  error: null,
  waiting: [],
} as const

/** The record of a run with its output so far. */
export function toSnapshot(run: RunRecord, fold: RunFold): RunRecord {
  const output = fold.messages(run.run_id, `msg_${run.run_id.slice(4)}`, run.created_at)
  const messages = run.status === 'running' ? [...run.messages, ...output] : run.messages
  return { ...run, messages, sources: [...fold.sources], ...fold.used() }
}

/** The record of a run that ends now. */
export function toEnded(
  run: RunRecord,
  { status, reason, error }: RunEnding,
  fold: RunFold,
  completedAt: string,
  endSeq: number,
): RunRecord {
  return {
    ...run,
    status,
    messages: [...run.messages, ...fold.messages(run.run_id, createId('msg'), completedAt)],
    completed_at: completedAt,
    cancellation_reason: reason ?? null,
    error: error ?? null,
    ...fold.used(),
    sources: fold.sources,
    waiting: status === 'input_required' ? toWaiting(fold.requests) : [],
    end_seq: endSeq,
  }
}

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

import { AppError } from '../../core/error.ts'
import { contentOf } from '../../core/message.ts'
import type { Cost, Run as RecordedRun, RunRecord } from '../../core/run.ts'
import type { Session as RecordedSession, SessionOverview } from '../../core/session.ts'
import { markCited } from '../../core/text/citations.ts'
import type { Costs } from '../../service/services.ts'
import type { Run, RunDetail, RunResult } from '../../wire/run.ts'
import type { Session, SessionHead } from '../../wire/session.ts'

/** A run as the store has it, with what it costs. */
export function withCost<RUN extends RecordedRun>(run: RUN, costs: Costs): RUN & { cost: Cost | null } {
  return { ...run, cost: costs.ofRun(run) }
}

/** A session as in lists of heads. */
export function toHead(session: SessionOverview, costs: Costs): SessionHead {
  return { ...session, cost: costs.ofSession(session) }
}

export function toSession(session: RecordedSession, costs: Costs): Session {
  return { ...session, runs: session.runs.map((run) => withCost(run, costs)) }
}

/** A run as in sessions, lists and the history. */
export function toRun(record: RecordedRun, costs: Costs): Run {
  const { run_id, session_id, parent_run_id, entity_id, entity_kind, status, created_at, started_at, completed_at } =
    record
  const { cancellation_reason, error, cache_hit, usage, usage_by_model, waiting, replaced_by, again_of } = record
  return {
    run_id,
    session_id,
    parent_run_id,
    entity_id,
    entity_kind,
    status,
    created_at,
    started_at,
    completed_at,
    cancellation_reason,
    error,
    cache_hit,
    usage,
    ...(usage_by_model && { usage_by_model }),
    cost: costs.ofRun(record),
    waiting,
    replaced_by,
    again_of,
  }
}

/** The answer of a completed run, or of one that is waiting for input. Throws for any other status. */
export function toRunAnswer(record: RunRecord, runTimeoutMs: number, costs: Costs): RunResult {
  const about = { runId: record.run_id, sessionId: record.session_id }
  if (record.status === 'failed') {
    const code = record.error?.code === 'run_limit' ? 'run_limit' : 'run_failed'
    throw new AppError(code, record.error?.message ?? 'The run failed.', about)
  }
  if (record.status === 'interrupted')
    throw new AppError('run_interrupted', record.error?.message ?? 'The run was interrupted.', about)
  if (record.status === 'cancelled' && record.cancellation_reason === 'timeout') {
    throw new AppError('timeout', `The run did not end within requestTimeout (${runTimeoutMs} ms).`, about)
  }
  if (record.status === 'cancelled') {
    throw new AppError('run_cancelled', `The run was cancelled: ${record.cancellation_reason ?? 'requested'}.`, about)
  }
  return toRunResult(record, costs)
}

function toRunResult(record: RunRecord, costs: Costs): RunResult {
  const answer = record.messages.flatMap(({ role, parts }) => (role === 'assistant' ? parts : []))
  return {
    run_id: record.run_id,
    session_id: record.session_id,
    agent_id: record.entity_id,
    status: record.status,
    content: contentOf(answer),
    messages: record.messages,
    sources: markCited(record.sources, answer),
    usage: record.usage,
    ...(record.usage_by_model && { usage_by_model: record.usage_by_model }),
    cost: costs.ofRun(record),
    cache_hit: record.cache_hit,
    waiting: record.waiting,
    replaced_by: record.replaced_by,
    again_of: record.again_of,
    metadata: record.metadata,
    created_at: record.created_at,
    completed_at: record.completed_at,
  }
}

export function toRunDetail(record: RunRecord, costs: Costs): RunDetail {
  return {
    ...toRunResult(record, costs),
    parent_run_id: record.parent_run_id,
    entity_id: record.entity_id,
    entity_kind: record.entity_kind,
    started_at: record.started_at,
    cancellation_reason: record.cancellation_reason,
    error: record.error,
    truncated: record.truncated,
  }
}

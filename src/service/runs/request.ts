import { AppError, notFound } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import { textOf } from '../../core/message.ts'
import type { RunRecord } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { SessionSeed } from '../../core/session.ts'
import type { RunStarted } from '../../core/store.ts'
import { timestamp } from '../../core/time.ts'
import type { StartRun } from '../services.ts'

/** What a record is made of. */
export interface RequestedRun extends Pick<StartRun, 'entityId' | 'parts' | 'messageId' | 'sessionId'> {
  parentRunId?: string
  userId?: string | null | undefined
  metadata?: JsonObject | null | undefined
  background: boolean
}

/** The run that a request asks for, `queued`. */
export function createRun(request: RequestedRun, runnable: Runnable, now: number): RunRecord {
  const createdAt = timestamp(now)
  const runId = createId('run', now)
  const message: Message = {
    message_id: request.messageId ?? createId('msg', now),
    run_id: runId,
    role: 'user',
    parts: request.parts,
    content: textOf(request.parts),
    created_at: createdAt,
  }
  return {
    run_id: runId,
    session_id: request.sessionId ?? createId('ses', now),
    parent_run_id: request.parentRunId ?? null,
    entity_id: request.entityId,
    entity_kind: runnable.kind,
    status: 'queued',
    created_at: createdAt,
    started_at: null,
    completed_at: null,
    cancellation_reason: null,
    error: null,
    cache_hit: false,
    usage: null,
    user_id: request.userId ?? null,
    metadata: request.metadata ?? null,
    background: request.background,
    timeout_ms: runnable.timeoutMs ?? null,
    truncated: false,
    end_seq: null,
    messages: [message],
    sources: [],
  }
}

/** The session that the run creates if there is none. */
export function createSeed(run: RunRecord, request: StartRun): SessionSeed {
  return {
    session_id: run.session_id,
    agent_id: run.entity_kind === 'agent' ? run.entity_id : null,
    team_id: run.entity_kind === 'team' ? run.entity_id : null,
    workflow_id: run.entity_kind === 'workflow' ? run.entity_id : null,
    user_id: request.userId ?? null,
    name: null,
    metadata: null,
    state: null,
    created_at: run.created_at,
  }
}

/** Why the store did not take the start of a run. */
export function toRefusal(started: RunStarted, run: RunRecord): AppError {
  if (started.outcome === 'session_missing') return notFound('session', run.session_id)
  if (started.outcome === 'busy') {
    return new AppError('conflict', `Session '${run.session_id}' already has an active run elsewhere. Retry later.`)
  }
  return new AppError(
    'conflict',
    'A request with this idempotency key is already recorded. Retry it to get its result.',
  )
}

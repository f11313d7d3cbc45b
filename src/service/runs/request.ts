import { AppError, notFound } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message, Part } from '../../core/message.ts'
import { contentOf } from '../../core/message.ts'
import type { AgainOf, RunGiven, RunRecord } from '../../core/run.ts'
import type { RunResumed, RunStart, RunStarted } from '../../core/run-write.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { SessionSeed } from '../../core/session.ts'
import { timestamp } from '../../core/time.ts'
import type { StartRun } from '../services.ts'
import { queueIsFull } from './queue.ts'

type Refused = Exclude<RunStarted | RunResumed, { fence: number }>

/** The fields of a request that a run record needs. */
export interface RequestedRun extends Pick<StartRun, 'entityId' | 'messageId' | 'sessionId'> {
  parts: Part[]
  /** Of a run whose files are stored already. */
  runId?: string
  given?: RunGiven | undefined
  parentRunId?: string
  againOf?: AgainOf | undefined
  userId?: string | null | undefined
  metadata?: JsonObject | null | undefined
  background: boolean
}

/** The record of a requested run, with status `queued`. */
export function createRun(request: RequestedRun, runnable: Runnable, now: number): RunRecord {
  const createdAt = timestamp(now)
  const runId = request.runId ?? createId('run', now)
  const message: Message = {
    message_id: request.messageId ?? createId('msg', now),
    run_id: runId,
    role: 'user',
    parts: request.parts,
    content: contentOf(request.parts),
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
    waiting: [],
    replaced_by: null,
    again_of: request.againOf ?? null,
    given: request.given ?? null,
  }
}

/** The session that the run creates when it does not exist. */
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

/** The start of a run as the store takes it. The record is copied, so the run may change while the store writes. */
export function toStart(
  run: RunRecord,
  { checksInput }: Runnable,
  owner: string,
  more: Partial<Pick<RunStart, 'session' | 'state' | 'claim' | 'replaces' | 'whenBusy'>> = {},
): RunStart {
  // A run that goes on within a record has an input that was accepted.
  const unchecked = run.again_of === null || run.again_of.from === null ? checksInput : undefined
  const { session = null, state = null, claim = null, replaces, whenBusy } = more
  const message = run.messages[0] as Message
  return { run: { ...run }, message, session, state, claim, owner, unchecked, replaces, whenBusy }
}

/** Why the store refused to start or resume a run. */
export function toRefusal(
  refused: Refused,
  { run_id: runId, session_id: sessionId }: RunRecord,
  replaces?: string,
): AppError {
  switch (refused.outcome) {
    case 'session_missing':
      return notFound('session', sessionId)
    case 'missing':
      return notFound('run', runId)
    case 'turn_missing':
      return notFound('run', replaces ?? '')
    case 'replaced':
      return alreadyReplaced(replaces ?? '', { runId: refused.by, sessionId })
    case 'busy':
      return new AppError('conflict', `Session '${sessionId}' already has an active run elsewhere. Retry later.`, {
        sessionId,
      })
    case 'full':
      return queueIsFull(sessionId)
    case 'moved_on':
      return movedOn({ runId, sessionId })
    case 'claimed':
      return new AppError(
        'conflict',
        'A request with this idempotency key is already recorded. Retry it to get its result.',
      )
  }
}

/** `about` has the run that took its place. */
export function alreadyReplaced(replaces: string, about: { runId: string; sessionId: string }): AppError {
  const message = `The run '${replaces}' has been replaced by the run '${about.runId}'. Replace that run, or restore the first.`
  return new AppError('conflict', message, about)
}

/** The run is not at the pause any more that it was to be resumed from or cancelled at. */
export function movedOn(about: { runId: string; sessionId: string }): AppError {
  return new AppError('conflict', "The run's state changed. Fetch it and try again.", about)
}

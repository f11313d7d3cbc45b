import { AppError, notFound } from '../../core/error.ts'
import { isEnded, isTry, isTurn, type RunHead, type RunRecord } from '../../core/run.ts'
import type { ClaimRecord } from '../../core/run-write.ts'
import { timestamp } from '../../core/time.ts'
import { cancelPaused } from './cancel.ts'
import type { SessionQueue } from './queue.ts'
import { alreadyReplaced, movedOn } from './request.ts'
import type { RunServices } from './run-services.ts'

const pausedAtOnce = 100

/**
 * Before a run takes the place of a turn: cancels (`superseded`) the turns that wait from there on. Throws `run_not_found`
 * for a run that is no turn of the session, `conflict` for one that is replaced already. Gives the claim of `key` when the
 * first request with it has taken the place meanwhile.
 */
export async function prepareReplacement(
  services: RunServices,
  sessionId: string,
  runId: string,
  key: string | undefined,
): Promise<ClaimRecord | undefined> {
  const { store, recorded } = services
  const turn = await recorded.head(runId)
  if (turn.session_id !== sessionId || !isTurn(turn)) throw notFound('run', runId)
  if (turn.replaced_by !== null) {
    const earlier = key === undefined ? undefined : await store.findClaim(key)
    if (earlier !== undefined) return earlier
    throw alreadyReplaced(runId, { runId: turn.replaced_by, sessionId })
  }
  for (let cursor: string | undefined; ; ) {
    const filter = { session_id: sessionId, status: 'input_required' } as const
    const page = await store.listRuns(filter, { limit: pausedAtOnce, cursor })
    for (const { run_id, parent_run_id, replaced_by } of page.items) {
      if (parent_run_id !== null || replaced_by !== null) continue
      if (run_id !== runId && !(await store.isBefore(runId, run_id))) continue
      await cancelPaused(services, await recorded.get(run_id), 'superseded', true)
    }
    if (page.next === null) return undefined
    cursor = page.next
  }
}

/** Throws `conflict` when the run is part of the conversation, or when a run of the session is under way or waits. */
export async function restoreTurn(
  { store, recorded, clock }: RunServices,
  queues: SessionQueue,
  { run_id: runId, session_id: sessionId }: RunHead,
): Promise<RunRecord> {
  const underWay = queues.of(sessionId).at(-1)?.run.run_id
  const restored =
    underWay === undefined
      ? await store.restoreTurn(runId, timestamp(clock()))
      : { outcome: 'busy' as const, run_id: underWay }
  switch (restored.outcome) {
    case 'missing':
      throw notFound('run', runId)
    case 'current': {
      const message = 'The run is part of the conversation. Only a replaced run can be restored.'
      throw new AppError('conflict', message, { runId, sessionId })
    }
    case 'busy':
      throw busy(restored.run_id, sessionId)
    case 'restored':
      return recorded.get(runId)
  }
}

/** Throws `conflict` unless the run is an ended try of this turn, and no run of the session is under way or waits. */
export async function keepTry(
  { store, recorded, clock }: RunServices,
  queues: SessionQueue,
  { runId, sessionId, turn }: { runId: string; sessionId: string; turn: string },
): Promise<void> {
  const underWay = queues.of(sessionId).at(-1)?.run.run_id
  if (underWay !== undefined) throw busy(underWay, sessionId)
  const kept = await store.keepTry({ run_id: runId, turn, at: timestamp(clock()) })
  const about = { runId, sessionId }
  switch (kept.outcome) {
    case 'kept':
      return
    case 'missing':
      throw notFound('run', runId)
    case 'no_try':
    case 'unfinished':
      // It was an ended try a moment ago.
      assertKeepable(await recorded.get(runId))
      throw movedOn(about)
    case 'turn_missing':
      throw new AppError('conflict', `The turn '${turn}' that it repeats is gone, so it has no place any more.`, about)
    case 'replaced':
      throw alreadyReplaced(turn, { runId: kept.by, sessionId })
    case 'busy':
      throw busy(kept.run_id, sessionId)
    case 'silent':
      throw new AppError('conflict', 'The try has said nothing, so it can take no place in the conversation.', about)
  }
}

function busy(runId: string, sessionId: string): AppError {
  const message = `The session's run '${runId}' is under way or waits. Cancel it or wait until it ends.`
  return new AppError('conflict', message, { runId, sessionId })
}

/** Throws `conflict` for a run that is no ended try. */
export function assertKeepable(
  run: Pick<RunRecord, 'run_id' | 'session_id' | 'parent_run_id' | 'again_of' | 'status'>,
): void {
  if (!isTry(run)) throw new AppError('conflict', 'The run is a turn of its session already.', aboutOf(run))
  if (run.parent_run_id !== null) {
    const message = `It is a part of the run '${run.parent_run_id}'. Keep that one.`
    throw new AppError('conflict', message, aboutOf(run))
  }
  if (isEnded(run.status) && run.status !== 'input_required') return
  const advice =
    run.status === 'input_required' ? 'Answer what it waits for, or cancel it.' : 'Wait until it has, or cancel it.'
  throw new AppError('conflict', `The try has not ended: ${run.status}. ${advice}`, aboutOf(run))
}

const aboutOf = ({ run_id: runId, session_id: sessionId }: Pick<RunRecord, 'run_id' | 'session_id'>) => ({
  runId,
  sessionId,
})

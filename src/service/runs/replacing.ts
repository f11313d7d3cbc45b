import { AppError, notFound } from '../../core/error.ts'
import { isTurn, type RunHead, type RunRecord } from '../../core/run.ts'
import type { ClaimRecord } from '../../core/run-write.ts'
import { timestamp } from '../../core/time.ts'
import { cancelPaused } from './cancel.ts'
import type { SessionQueue } from './queue.ts'
import { alreadyReplaced } from './request.ts'
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
    case 'busy': {
      const message = `The session's run '${restored.run_id}' is under way or waits. Cancel it or wait until it ends.`
      throw new AppError('conflict', message, { runId: restored.run_id, sessionId })
    }
    case 'restored':
      return recorded.get(runId)
  }
}

import { isAppError, notFound } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { type CancellationReason, finalStatuses, isResumable, type RunRecord } from '../../core/run.ts'
import { timestamp } from '../../core/time.ts'
import { openRequests } from '../../core/waiting.ts'
import { silentEnd, toEnd } from '../execution/end.ts'
import { movedOn } from './request.ts'
import type { RunServices } from './run-services.ts'

const childrenAtOnce = 100

/**
 * Cancels a paused run and what waits inside it. `keepsPlace`: the turns that it replaced stay replaced. Throws `conflict`
 * when it was resumed or cancelled meanwhile.
 */
export async function cancelPaused(
  services: RunServices,
  run: RunRecord,
  reason: CancellationReason,
  keepsPlace = false,
): Promise<RunRecord> {
  const { store, clock } = services
  const ended: RunRecord = {
    ...run,
    status: 'cancelled',
    cancellation_reason: reason,
    completed_at: timestamp(clock()),
    end_seq: (run.end_seq ?? 0) + 1,
    waiting: [],
  }
  const silent = keepsPlace ? undefined : silentEnd(ended)
  const finished = await store.finishRun({ ...toEnd(ended, null, [], undefined), messages: [], ...silent })
  if (finished === 'missing') throw notFound('run', run.run_id)
  if (finished !== 'ok') throw movedOn({ runId: run.run_id, sessionId: run.session_id })
  if (run.status === 'input_required') void tellOfWait(services, run)
  await cancelInside(services, run, reason)
  return ended
}

/** Requests are among the last events before a pause. */
const lastEvents = 1000

async function tellOfWait({ recorded, onWaitCancelled, logger }: RunServices, run: RunRecord): Promise<void> {
  if (onWaitCancelled === undefined) return
  try {
    const events: RunEvent[] = []
    const after = Math.max(0, (run.end_seq ?? 0) - lastEvents)
    for await (const batch of recorded.events(run, after)) events.push(...batch)
    onWaitCancelled(openRequests(events))
  } catch (error) {
    // The session may be deleted meanwhile.
    logger.warn({ error, run_id: run.run_id }, 'what a cancelled run waited for could not be read')
  }
}

/** Cancels what waits inside a run that has ended, at every depth. An interrupted run may contain some, too. */
export async function cancelInside(
  services: RunServices,
  { run_id: parentId }: Pick<RunRecord, 'run_id'>,
  reason: CancellationReason,
): Promise<void> {
  const { store } = services
  for (const status of ['input_required', 'interrupted'] as const) {
    for (let cursor: string | undefined; ; ) {
      const page = await store.listRuns({ parent_run_id: parentId, status }, { limit: childrenAtOnce, cursor })
      for (const { run_id } of page.items) {
        const child = await store.findRun(run_id)
        if (child === undefined) continue
        await (isResumable(child) ? cancelPaused(services, child, reason) : cancelInside(services, child, reason))
      }
      if (page.next === null) break
      cursor = page.next
    }
  }
}

/** Once the run has ended for good, nothing waits inside it. */
export async function leaveNothingInside(
  services: RunServices,
  run: Pick<RunRecord, 'run_id' | 'status'>,
  reason: CancellationReason,
): Promise<void> {
  if (!finalStatuses.some((final) => final === run.status)) return
  try {
    await cancelInside(services, run, reason)
  } catch (error) {
    if (isMovedOn(error)) return
    services.logger.error({ error, run_id: run.run_id }, 'what waits inside an ended run could not be cancelled')
  }
}

/** Whether the run was cancelled, resumed or deleted meanwhile. */
export function isMovedOn(error: unknown): boolean {
  return isAppError(error) && (error.code === 'conflict' || error.code === 'run_not_found')
}

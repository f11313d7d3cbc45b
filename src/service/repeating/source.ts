import { planAgain } from '../../core/again/plan.ts'
import { AppError, isAppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import type { RunRecord } from '../../core/run.ts'
import type { RecordedRuns } from '../events/reader.ts'

/**
 * An interrupted run that repeats another goes on only when it has recorded all that it repeats: what is missing would be made
 * anew. Throws `conflict`.
 */
export async function assertRepeated(
  recorded: Pick<RecordedRuns, 'head' | 'events'>,
  run: Pick<RunRecord, 'run_id' | 'session_id' | 'again_of' | 'entity_kind'>,
  before: readonly RunEvent[],
): Promise<void> {
  const { again_of: of } = run
  if (of === null || of.from === null) return
  const count = await repeatedCount(recorded, of.run_id, of.from, run)
  // The first event is the start of the run.
  if (count !== undefined && before.length - 1 >= count) return
  const message = 'It was interrupted while it took over the record of the other run. Repeat that run again.'
  throw new AppError('conflict', message, { runId: run.run_id, sessionId: run.session_id })
}

async function repeatedCount(
  recorded: Pick<RecordedRuns, 'head' | 'events'>,
  runId: string,
  from: number,
  { entity_kind: kind }: Pick<RunRecord, 'entity_kind'>,
): Promise<number | undefined> {
  const events: RunEvent[] = []
  try {
    for await (const batch of recorded.events(await recorded.head(runId), 0)) events.push(...batch)
    return planAgain(events, from, kind).repeated.length
  } catch (error) {
    if (isAppError(error) && ['run_not_found', 'invalid_request'].includes(error.code)) return undefined
    throw error
  }
}

import { RunFold } from '../../../core/events/fold.ts'
import { createId } from '../../../core/id.ts'
import { isEnded, type Run } from '../../../core/run.ts'
import type { Recovered } from '../../../core/store.ts'
import { maxRecoveredCharacters } from '../../rules/run-rules.ts'
import { refuseRuns } from './refuse.ts'
import { copy, type MemoryState, type RunRow, runOf } from './rows.ts'
import { setModelUsage, touchFor } from './runs.ts'
import { getSession } from './sessions.ts'
import { bringBack } from './turns.ts'

/** Takes at most `limit` runs of the owners that are meant, in stored order. */
export function recoverRuns(
  state: MemoryState,
  owner: string,
  at: string,
  isMeant: (owner: string) => boolean,
  limit = Number.POSITIVE_INFINITY,
): Recovered {
  const interrupted: Run[] = []
  const queued: Recovered['queued'] = []
  for (const row of state.runs.values()) {
    const { record } = row
    if (isEnded(record.status) || !isMeant(row.owner)) continue
    if (interrupted.length + queued.length === limit) break
    row.fence += 1
    row.owner = owner
    if (record.status === 'queued' && record.background) {
      const { unchecked } = row
      const run = copy(unchecked === undefined ? record : { ...record, messages: [unchecked] })
      queued.push({ run, fence: row.fence, ...(unchecked !== undefined && { unchecked: true }) })
    } else {
      const isUnchecked = row.unchecked !== undefined
      interrupt(state, row, at)
      if (isUnchecked) refuseRuns(state, [record.run_id])
      interrupted.push(runOf(row))
    }
  }
  return { interrupted, queued }
}

function interrupt(state: MemoryState, row: RunRow, at: string): void {
  const { record } = row
  const fold = new RunFold(maxRecoveredCharacters)
  fold.addRecorded(row.events)
  record.truncated = record.status === 'running'
  record.status = 'interrupted'
  record.completed_at = at
  record.end_seq = row.reserveUntil + 1
  record.messages.push(...fold.messages(record.run_id, createId('msg'), at))
  record.sources = fold.sources
  const { usage, usage_by_model: byModel } = fold.used()
  record.usage = usage
  setModelUsage(record, byModel)
  const session = getSession(state, record.session_id)
  if (record.messages.length < 2) bringBack(state, session, record.run_id, at)
  touchFor(row, session, at)
}

import { type EntityKind, finalStatuses, isEnded, isResumable, type RunStatus } from '../../core/run.ts'
import type { EventsAppended, RunFinished } from '../../core/run-write.ts'

const final: ReadonlySet<RunStatus> = new Set(finalStatuses)

interface RunLook {
  status: RunStatus
  entity_kind: EntityKind
  fence: number
}

/** How many event numbers a run may use before its first batch is recorded. */
export const startReserve = 1_000

/** Maximum output of an interrupted run that becomes its answer, above every default limit. */
export const maxRecoveredCharacters = 64 * 1024 * 1024

/** Whether a run in this state may be ended under this fence; `ok`: write the end. */
export function judgeEnd(run: RunLook | undefined, fence: number | null): RunFinished {
  if (run === undefined) return 'missing'
  if (final.has(run.status)) return 'already_final'
  const may = fence === null ? isResumable(run) : run.fence === fence
  return may ? 'ok' : 'fenced'
}

/** Whether the run is paused at the event `endSeq`. */
export function mayResume(run: RunLook & { end_seq: number | null }, endSeq: number): boolean {
  return isResumable(run) && run.end_seq === endSeq
}

/** Whether a run in this state accepts events under this fence; `ok`: write them. */
export function judgeEvents(run: { status: RunStatus; fence: number } | undefined, fence: number): EventsAppended {
  if (run === undefined) return 'gone'
  if (run.fence !== fence) return 'fenced'
  return isEnded(run.status) ? 'gone' : 'ok'
}

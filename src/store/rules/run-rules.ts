import { type EntityKind, finalStatuses, isEnded, isResumable, type RunStatus } from '../../core/run.ts'
import type { RunFinished } from '../../core/store.ts'

const final: ReadonlySet<RunStatus> = new Set(finalStatuses)

interface RunLook {
  status: RunStatus
  entity_kind: EntityKind
  fence: number
}

/** How many event numbers a run may use before its first batch is recorded. */
export const startReserve = 1_000

/**
 * How much text and data of an interrupted run becomes its answer. No usual limit lets a run emit more; what an unlimited
 * run emitted beyond that stays in its events.
 */
export const maxRecoveredCharacters = 64 * 1024 * 1024

/** What the rules say about ending a run in this state under this fence; `ok` means: write. */
export function judgeEnd(run: RunLook | undefined, fence: number | null): RunFinished {
  if (run === undefined) return 'missing'
  if (final.has(run.status)) return 'already_final'
  const may = fence === null ? isResumable(run) : run.fence === fence
  return may ? 'ok' : 'fenced'
}

/** Whether the run is at the pause that is meant. */
export function mayResume(run: RunLook & { end_seq: number | null }, endSeq: number): boolean {
  return isResumable(run) && run.end_seq === endSeq
}

/** Whether a run in this state takes events under this fence. */
export function takesEvents(run: { status: RunStatus; fence: number } | undefined, fence: number): boolean {
  return run !== undefined && !isEnded(run.status) && run.fence === fence
}

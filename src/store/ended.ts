import { finalStatuses, isEnded, type RunStatus } from '../core/run.ts'
import type { RunFinished } from '../core/store.ts'

const final: ReadonlySet<RunStatus> = new Set(finalStatuses)

/** How many event numbers a run may use before its first batch is recorded. */
export const startReserve = 1_000

/** What the rules say about ending a run in this state under this fence; `ok` means: write. */
export function judgeEnd(run: { status: RunStatus; fence: number } | undefined, fence: number): RunFinished {
  if (run === undefined) return 'missing'
  if (final.has(run.status)) return 'already_final'
  return run.fence === fence ? 'ok' : 'fenced'
}

/** Whether a run in this state takes events under this fence. */
export function takesEvents(run: { status: RunStatus; fence: number } | undefined, fence: number): boolean {
  return run !== undefined && !isEnded(run.status) && run.fence === fence
}

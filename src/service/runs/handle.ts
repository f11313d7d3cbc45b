import type { RunRecord } from '../../core/run.ts'
import type { RecordedRuns } from '../events/reader.ts'
import type { RunHandle } from '../services.ts'
import type { RunExecution } from './execution.ts'

/** Of a run under way. */
export function liveHandle(execution: RunExecution): RunHandle {
  const { run_id: runId, session_id: sessionId } = execution.run
  return {
    runId,
    sessionId,
    replayed: false,
    events: (after = 0) => execution.log.read(after),
    result: () => execution.done,
  }
}

/** Of a run that an earlier request started and that has ended. */
export function recordedHandle(run: RunRecord, recorded: RecordedRuns): RunHandle {
  return {
    runId: run.run_id,
    sessionId: run.session_id,
    replayed: true,
    events: (after = 0) => recorded.events(run, after),
    result: async () => run,
  }
}

/** Cancels the run when its client is gone. */
export function cancelWith(execution: RunExecution, signal: AbortSignal | undefined): void {
  const leave = () => execution.cancel('client_disconnected')
  if (signal?.aborted) leave()
  else signal?.addEventListener('abort', leave, { once: true })
}

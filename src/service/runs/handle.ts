import type { RunRecord } from '../../core/run.ts'
import type { RecordedRuns } from '../events/reader.ts'
import type { RunExecution } from '../execution/execution.ts'
import type { RunHandle, StartRun } from '../services.ts'

/** Handle of a live run. `from`: the events after this number, unless its reader names another. */
export function liveHandle(execution: RunExecution, from = 0): RunHandle {
  const { run_id: runId, session_id: sessionId } = execution.run
  return {
    runId,
    sessionId,
    replayed: false,
    events: (after = from) => execution.log.read(after),
    result: () => execution.done,
  }
}

/** For the request that started or resumed the run, whose events begin there. By default the run is cancelled when the client leaves. */
export function ownHandle(
  execution: RunExecution,
  { mode, onDisconnect, signal }: Pick<StartRun, 'mode' | 'onDisconnect' | 'signal'>,
): RunHandle {
  if (mode !== 'background' && onDisconnect !== 'continue') {
    const leave = () => execution.cancel('client_disconnected')
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
  }
  return liveHandle(execution, execution.firstSeq - 1)
}

/** Handle of an ended run that an earlier request started. `from` as above. */
export function recordedHandle(run: RunRecord, recorded: RecordedRuns, from = 0): RunHandle {
  return {
    runId: run.run_id,
    sessionId: run.session_id,
    replayed: true,
    events: (after = from) => recorded.events(run, after),
    result: async () => run,
  }
}

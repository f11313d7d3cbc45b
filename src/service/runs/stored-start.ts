import { createId } from '../../core/id.ts'
import type { Part } from '../../core/message.ts'
import type { RunGiven, RunRecord } from '../../core/run.ts'
import { bringsFiles, saveFiles } from '../files/input.ts'
import type { RunHandle, StartRun } from '../services.ts'
import type { RunServices } from './run-services.ts'

/** A start whose files are stored. */
export type StoredStart = Omit<StartRun, 'parts' | 'given'> & { parts: Part[]; given?: RunGiven | undefined }

/** Ids that files were stored under. */
export type StoredIds = Pick<RunRecord, 'run_id' | 'session_id'>

/** Stores the files that a request brings, then starts its run. `check` refuses requests before anything is stored. */
export function withStoredFiles(
  { store, bounds, logger, clock }: RunServices,
  check: (request: StartRun) => void,
  startStored: (request: StoredStart, ids?: StoredIds) => Promise<RunHandle>,
): (request: StartRun) => Promise<RunHandle> {
  /** A failure leaves files that no reader finds; the next start of the process deletes them. */
  async function dropFiles(runId: string): Promise<void> {
    await store
      .dropFiles(runId)
      .catch((error: unknown) =>
        logger.warn({ error, run_id: runId }, 'files of a refused run remain until the next restart'),
      )
  }

  return async (request) => {
    // Everything before a run without files is synchronous: runs of a session keep the order of their calls.
    if (!bringsFiles(request) || request.repeats?.keepsInput) return startStored(request as StoredStart)
    check(request)
    const now = clock()
    const ids = { run_id: createId('run', now), session_id: request.sessionId ?? createId('ses', now) }
    let started: string | undefined
    try {
      const saved = await saveFiles(store, bounds, request, ids)
      const handle = await startStored({ ...request, ...saved }, ids)
      started = handle.runId
      return handle
    } finally {
      // The start was refused, or the request has a run already.
      if (started !== ids.run_id) await dropFiles(ids.run_id)
    }
  }
}

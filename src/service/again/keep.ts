import { AppError, isAppError, notFound } from '../../core/error.ts'
import type { RunRecord } from '../../core/run.ts'
import { assertKeepable } from '../runs/replacing.ts'
import type { RunService } from '../runs/runs.ts'
import type { Services, Sessions } from '../services.ts'
import type { StartedRun } from './request.ts'

interface KeepServices {
  runs: RunService
  sessions: Sessions
}

/** Makes turns of ended tries. What they did and what it cost stays as it is recorded: nothing is run. */
export function createKeep({ runs, sessions }: KeepServices): Services['keep'] {
  return async (runId, keep) => {
    const tried = await runs.get(runId)
    assertKeepable(tried)
    const turn = await turnOf(tried)
    return keep === 'replace' ? replace(tried, turn) : fork(tried, turn)
  }

  async function replace({ run_id, session_id }: RunRecord, turn: string): Promise<StartedRun> {
    await runs.keepTry(run_id, turn)
    return { run_id, session_id }
  }

  async function fork(tried: RunRecord, turn: string): Promise<StartedRun> {
    const { session } = await sessions.fork(tried.session_id, { beforeRunId: turn, andTry: tried })
    const [last] = session.runs.filter(
      ({ again_of: of }) => of?.keep === 'fork' && of.run_id === tried.again_of?.run_id,
    )
    if (last === undefined) throw notFound('run', tried.run_id)
    return { run_id: last.run_id, session_id: session.session_id }
  }

  /** Throws `conflict` when a try in between is gone. */
  async function turnOf(run: RunRecord): Promise<string> {
    try {
      return await runs.turnOf(run)
    } catch (error) {
      if (!isAppError(error) || error.code !== 'run_not_found') throw error
      const message = `The run that it repeats, '${run.again_of?.run_id}', is gone, so it has no place any more.`
      throw new AppError('conflict', message, { runId: run.run_id, sessionId: run.session_id, cause: error })
    }
  }
}

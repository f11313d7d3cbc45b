import { isAppError } from '../../../core/error.ts'
import { isTurn, type RunHead } from '../../../core/run.ts'
import { taskNotFound } from './error.ts'
import type { Call } from './operations.ts'

/** Throws unless it is a turn of this agent that the caller may see: runs inside runs and repeated ones are no tasks. */
export async function findTask({ services, agentId }: Call, id: string): Promise<RunHead> {
  const run = await services.runs.head(id).catch((error: unknown) => {
    throw isAppError(error) && error.code === 'run_not_found' ? taskNotFound(id) : error
  })
  if (run.entity_id !== agentId || !isTurn(run)) throw taskNotFound(id)
  return run
}

import { isAppError } from '../../core/error.ts'
import type { RunHead } from '../../core/run.ts'
import type { ClaimRecord } from '../../core/run-write.ts'
import { assertSameRequest } from '../idempotency.ts'
import type { Idempotency } from '../services.ts'
import type { LiveRuns } from './live.ts'
import type { RunServices } from './run-services.ts'

/** How long a request that is sent again gets the answer of the first one. */
const answerKeptMs = 10 * 60 * 1000

/** Whether a start takes the key over from the run that has it (`Idempotency.attempt`). Throws `idempotency_mismatch`. */
export async function mayTakeOver(
  services: Pick<RunServices, 'recorded' | 'clock'>,
  live: LiveRuns,
  claim: ClaimRecord,
  idempotency: Idempotency | undefined,
): Promise<boolean> {
  const { run_id: runId } = claim
  if (idempotency?.attempt === undefined || runId === null) return false
  assertSameRequest(claim, idempotency)
  if (idempotency.attempt === 'first') return true
  const execution = live.get(runId)
  if (execution !== undefined && !execution.ended) return false
  // How it ends is known once that is durable. Without that, its readers are told why.
  await execution?.done.catch(() => {})
  const run = await findHead(services, runId)
  return run === undefined || !isAnswer(run, services.clock())
}

async function findHead({ recorded }: Pick<RunServices, 'recorded'>, runId: string): Promise<RunHead | undefined> {
  try {
    return await recorded.head(runId)
  } catch (error) {
    if (isAppError(error) && error.code === 'run_not_found') return undefined
    throw error
  }
}

function isAnswer({ status, completed_at: at }: RunHead, now: number): boolean {
  if (status === 'queued' || status === 'running') return true
  if (status !== 'completed' && status !== 'input_required') return false
  return at !== null && Date.parse(at) > now - answerKeptMs
}

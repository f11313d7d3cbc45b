import { AppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import type { RunHead } from '../../core/run.ts'
import type { ClaimRecord } from '../../core/run-write.ts'
import type { Answer } from '../../core/waiting.ts'
import type { RecordedRuns } from '../events/reader.ts'
import { assertSameRequest } from '../idempotency.ts'
import type { RunHandle, StartRun } from '../services.ts'
import { resumptionWith } from './answers.ts'
import type { RunsElsewhere } from './elsewhere.ts'
import { liveHandle } from './handle.ts'
import type { LiveRuns } from './live.ts'

/** What a retried request gets: the run of the first one with its key. */
export function createReplay(live: LiveRuns, recorded: RecordedRuns, elsewhere: RunsElsewhere) {
  return async function replay(
    claim: ClaimRecord,
    { idempotency }: Pick<StartRun, 'idempotency'>,
    ignored: readonly string[] | undefined,
  ): Promise<RunHandle> {
    assertSameRequest(claim, idempotency)
    const join = idempotency?.whileRunning === 'join' || idempotency?.attempt !== undefined
    const { run_id: runId } = claim
    if (runId === null) {
      const message = 'A request with this idempotency key is still in progress. Retry later.'
      throw new AppError('conflict', message, { retryAfterSeconds: 1 })
    }
    const running = live.get(runId)
    if (running !== undefined) {
      if (join) return { ...liveHandle(running), replayed: true, ignored }
      throw inProgress(running.run)
    }
    const run = await recorded.get(runId)
    if (!join && elsewhere.of(run) !== undefined) throw inProgress(run)
    if (run.status === 'interrupted' && !join) {
      const message = `The run that this idempotency key started ('${runId}') was interrupted by a restart. Use a new key to run it again.`
      throw new AppError('run_interrupted', message, { runId, sessionId: run.session_id })
    }
    return { ...elsewhere.handle(run), ignored }
  }
}

function inProgress({ run_id: runId, session_id: sessionId }: RunHead): AppError {
  const message = `A request with this idempotency key is still in progress as run '${runId}'.`
  return new AppError('conflict', message, { runId, sessionId, retryAfterSeconds: 1 })
}

/** The run that this answer has resumed already, at the pause `endSeq` if given; undefined when it had another answer. */
export async function followAnswered(
  { live, recorded, elsewhere }: { live: LiveRuns; recorded: RecordedRuns; elsewhere: RunsElsewhere },
  runId: string,
  answer: Answer,
  endSeq?: number | null,
): Promise<RunHandle | undefined> {
  const isMeant = (event: RunEvent) =>
    event.type === 'run_resumed' && (endSeq === undefined || event.paused?.seq === endSeq)
  const execution = live.get(runId)
  if (execution !== undefined) {
    const resumption = resumptionWith(answer, (execution.options.before ?? []).filter(isMeant))
    return resumption && { ...liveHandle(execution, resumption.seq - 1), replayed: true }
  }
  const resumption = resumptionWith(answer, (await recorded.resumptions(runId)).filter(isMeant))
  return resumption && elsewhere.handle(await recorded.get(runId), resumption.seq - 1)
}

import type { RunEvent } from '../../core/event.ts'
import type { Answer } from '../../core/waiting.ts'
import type { RecordedRuns } from '../events/reader.ts'
import type { RunHandle } from '../services.ts'
import { resumptionWith } from './answers.ts'
import { liveHandle, recordedHandle } from './handle.ts'
import type { LiveRuns } from './live.ts'

/** The run that this answer has resumed already, at the pause `endSeq` if given; undefined when it had another answer. */
export async function followAnswered(
  { live, recorded }: { live: LiveRuns; recorded: RecordedRuns },
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
  return resumption && recordedHandle(await recorded.get(runId), recorded, resumption.seq - 1)
}

import { isEnded } from '../../../core/run.ts'
import { readPause } from '../../runs/waiting.ts'
import type { RunsAction } from './action.ts'
import { readAnswer } from './answer.ts'
import { followRun } from './follow.ts'

/** Answers a waiting run, or takes up an interrupted workflow, and prints what follows. The exit code is the run's outcome. */
export const resumeRun: RunsAction = async ({ client, runId, options, json, signal }) => {
  const run = await client.runs.get(runId, { signal })
  const { waiting, after } = isEnded(run.status) ? await readPause(client, runId, signal) : { waiting: [], after: 0 }
  const answer = readAnswer({ ...run, waiting }, options)
  await client.runs.resume(runId, { ...answer, background: true }, { signal })
  return followRun({ client, runId, after, json, signal })
}

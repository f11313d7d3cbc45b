import { printJson, say } from '../../terminal/output.ts'
import { terminalLine } from '../../terminal/text.ts'
import type { RunsAction } from './action.ts'

export const cancelRun: RunsAction = async ({ client, runId, options: { reason }, json, signal }) => {
  const run = await client.runs.cancel(runId, reason, { signal })
  if (json) printJson(run)
  else say(`Cancelled ${terminalLine(run.run_id)}.`)
  return undefined
}

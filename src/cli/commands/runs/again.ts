import type { Client } from '../../../client/client.ts'
import type { AgainRequest, AgainStarted } from '../../../client/index.ts'
import { exit } from '../../command/exit-codes.ts'
import { say, write } from '../../terminal/output.ts'
import { terminalLine } from '../../terminal/text.ts'
import type { RunsAction, RunsOptions } from './action.ts'
import { followRun } from './follow.ts'

/** Repeats a run, and prints the new runs one after the other. The exit code is the first that is not 0. */
export const againRun: RunsAction = async ({ client, runId, options, json, signal }) => {
  const { runs } = await client.runs.again(runId, requestOf(options), { signal })
  let code: number = exit.ok
  for (const [place, run] of runs.entries()) {
    if (!json && runs.length > 1) await write(`${place === 0 ? '' : '\n'}${heading(run, place, runs)}\n`)
    const ended = await followRun({ client, runId: run.run_id, after: 0, json, signal })
    if (code === exit.ok) code = ended
    if (!json) say(await about(client, run, signal))
  }
  return code
}

function requestOf({ from, after, times, keep, input, instructions, model }: RunsOptions): AgainRequest {
  const edit = {
    ...(input !== undefined && { input }),
    ...(instructions !== undefined && { instructions }),
    ...(model !== undefined && { model }),
  }
  return {
    ...(from !== undefined && { from }),
    ...(after !== undefined && { after }),
    ...(times !== undefined && { times }),
    ...(keep !== undefined && { keep }),
    ...(Object.keys(edit).length > 0 && { edit }),
  }
}

function heading({ run_id: id }: AgainStarted['runs'][number], place: number, runs: AgainStarted['runs']): string {
  return `── ${terminalLine(id)}  ${place + 1} of ${runs.length}`
}

/** What it is, and from where it was made anew: `from` may have meant a later event. */
async function about(
  client: Client,
  { run_id: id, session_id: sessionId }: AgainStarted['runs'][number],
  signal: AbortSignal,
): Promise<string> {
  const { again_of: of } = await client.runs.get(id, { signal })
  const from = of?.from == null ? 'its beginning' : `event ${of.from}`
  const kept = of?.keep === 'no' ? 'as a try that is not kept' : `in the session ${terminalLine(sessionId)}`
  return `${terminalLine(id)} repeats ${terminalLine(of?.run_id ?? 'a run')} from ${from}, ${kept}.`
}

import { type InputRequired, isFinalEvent } from '../../../core/event.ts'
import { isEnded } from '../../../core/run.ts'
import { exit } from '../../command/exit-codes.ts'
import { readPause, resumeHint, toWaiting } from '../../runs/waiting.ts'
import { createRunWriter, exitCodeOfEnd, followReconnects } from '../../runs/writer.ts'
import { say, write } from '../../terminal/output.ts'
import { terminalJson } from '../../terminal/text.ts'
import type { RunsAction } from './action.ts'
import { readAnswer } from './answer.ts'

/** Answers a waiting run, or takes up an interrupted workflow, and prints what follows. The exit code is the run's outcome. */
export const resumeRun: RunsAction = async ({ client, runId, options, json, signal }) => {
  const run = await client.runs.get(runId, { signal })
  const { waiting, after } = isEnded(run.status) ? await readPause(client, runId, signal) : { waiting: [], after: 0 }
  const answer = readAnswer({ ...run, waiting }, options)
  await client.runs.resume(runId, { ...answer, background: true }, { signal })
  const writer = createRunWriter()
  const asked: InputRequired[] = []
  let code: number = exit.failure
  for await (const event of await client.runs.events(runId, { after, signal, reconnects: followReconnects })) {
    await write(json ? `${terminalJson(event)}\n` : writer.toText(event))
    if (event.type === 'input_required') asked.push(event)
    if (isFinalEvent(event)) code = exitCodeOfEnd(event)
  }
  if (asked.length > 0) say(`To answer: ${resumeHint({ run_id: runId, waiting: asked.map(toWaiting) })}`)
  return code
}

import { type InputRequired, isFinalEvent } from '../../../core/event.ts'
import { exit } from '../../command/exit-codes.ts'
import { resumeHint, toWaiting } from '../../runs/waiting.ts'
import { createRunWriter, exitCodeOfEnd, followReconnects } from '../../runs/writer.ts'
import { say, write } from '../../terminal/output.ts'
import { terminalJson } from '../../terminal/text.ts'
import type { RunsAction } from './action.ts'

/** Follows a run from its first event to its end, also an ended one. The exit code is the run's outcome. */
export const tailRun: RunsAction = async ({ client, runId, json, signal }) => {
  const writer = createRunWriter()
  let asked: InputRequired[] = []
  let code: number = exit.failure
  for await (const event of await client.runs.events(runId, { signal, reconnects: followReconnects })) {
    await write(json ? `${terminalJson(event)}\n` : writer.toText(event))
    if (event.type === 'run_resumed') asked = []
    if (event.type === 'input_required') asked.push(event)
    if (isFinalEvent(event)) code = exitCodeOfEnd(event)
  }
  if (asked.length > 0) say(`To answer: ${resumeHint({ run_id: runId, waiting: asked.map(toWaiting) })}`)
  return code
}

import { isFinalEvent } from '../../../core/event.ts'
import { exit } from '../../command/exit-codes.ts'
import { createRunWriter, exitCodeOfEnd, followReconnects } from '../../runs/writer.ts'
import { write } from '../../terminal/output.ts'
import { terminalJson } from '../../terminal/text.ts'
import type { RunsAction } from './action.ts'

/** Follows a run from its first event to its end, also an ended one. The exit code is the run's outcome. */
export const tailRun: RunsAction = async ({ client, runId, json, signal }) => {
  const writer = createRunWriter()
  let code: number = exit.failure
  for await (const event of await client.runs.events(runId, { signal, reconnects: followReconnects })) {
    await write(json ? `${terminalJson(event)}\n` : writer.toText(event))
    if (isFinalEvent(event)) code = exitCodeOfEnd(event)
  }
  return code
}

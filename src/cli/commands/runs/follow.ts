import type { Client } from '../../../client/client.ts'
import { type InputRequired, isFinalEvent } from '../../../core/event.ts'
import { exit } from '../../command/exit-codes.ts'
import { resumeHint, toWaiting } from '../../runs/waiting.ts'
import { createRunWriter, exitCodeOfEnd, followReconnects } from '../../runs/writer.ts'
import { say, write } from '../../terminal/output.ts'
import { terminalJson } from '../../terminal/text.ts'

export interface FollowedRun {
  client: Client
  runId: string
  /** The number of the last event that is not printed. */
  after: number
  json: boolean
  signal: AbortSignal
}

/** Prints a run to its end or next pause, and then how to answer it. The exit code is the run's outcome. */
export async function followRun({ client, runId, after, json, signal }: FollowedRun): Promise<number> {
  const writer = createRunWriter()
  let asked: InputRequired[] = []
  let code: number = exit.failure
  for await (const event of await client.runs.events(runId, { after, signal, reconnects: followReconnects })) {
    await write(json ? `${terminalJson(event)}\n` : writer.toText(event))
    // A run that repeats another also has the answered requests of that one.
    if (event.type === 'run_resumed') asked = []
    if (event.type === 'input_required') asked.push(event)
    if (isFinalEvent(event)) code = exitCodeOfEnd(event)
  }
  if (asked.length > 0) say(`To answer: ${resumeHint({ run_id: runId, waiting: asked.map(toWaiting) })}`)
  return code
}

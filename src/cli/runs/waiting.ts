import type { Client } from '../../client/client.ts'
import type { InputRequired } from '../../core/event.ts'
import type { Waiting } from '../../core/run.ts'
import { kindOf } from '../../core/waiting.ts'
import { hint } from '../terminal/called-as.ts'
import { terminalLine } from '../terminal/text.ts'
import { inShort } from './writer.ts'

/** A run as the CLI gets it: an older server does not say what it waits for. */
export interface WaitingRun {
  run_id: string
  waiting?: readonly Waiting[] | undefined
}

/** What an event asks for, as the run's `waiting` has it. */
export function toWaiting(event: InputRequired): Waiting {
  const { type: _type, after: _after, messages: _messages, ...request } = event
  return { ...request, kind: kindOf(event) }
}

/** One line per request: what it needs, the tool, the prompt, the data and the id. */
export function waitingLines({ waiting = [] }: WaitingRun): string[] {
  return waiting.map(({ kind, tool, prompt, data, call_id: id }) =>
    [
      kind,
      ...(tool === undefined ? [] : [terminalLine(tool)]),
      terminalLine(prompt),
      ...(data === undefined ? [] : [inShort(data)]),
      ...(id === undefined ? [] : [`(${terminalLine(id)})`]),
    ].join('  '),
  )
}

/** The command that resumes a run, to fill in and paste. */
export function resumeHint({ run_id: runId, waiting = [] }: WaitingRun): string {
  const resume = `runs resume ${terminalLine(runId)}`
  const kinds = new Set(waiting.map(({ kind }) => kind))
  if (waiting.length === 0) return hint(resume)
  if (kinds.size === 1 && kinds.has('approval')) return hint(`${resume} --approve|--deny`)
  if (waiting.length === 1) return hint(`${resume} --input '<json>'`)
  const answers = waiting.map(({ kind, call_id: id = '' }) =>
    quoted(`${terminalLine(id)}=${kind === 'approval' ? 'approve|deny' : '<json>'}`),
  )
  return hint([resume, ...answers.map((answer) => `--call ${answer}`)].join(' '))
}

/** What a paused run waits for, by its events, and the number of the last one. Every server has these. */
export async function readPause(
  client: Client,
  runId: string,
  signal: AbortSignal,
): Promise<{ waiting: Waiting[]; after: number }> {
  let waiting: Waiting[] = []
  let after = 0
  for await (const event of await client.runs.events(runId, { signal })) {
    after = event.seq
    if (event.type === 'run_resumed') waiting = []
    if (event.type === 'input_required') waiting.push(toWaiting(event))
  }
  return { waiting, after }
}

/** Text for a request with a schema: JSON, unless the schema or the text says otherwise. */
export function inputOf(text: string, schema: Waiting['schema']) {
  if (schema?.type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function quoted(word: string): string {
  return /^[\w./:=@#-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

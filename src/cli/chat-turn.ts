import type { Client } from '../client/client.ts'
import type { RunEvent, SourceEvent } from '../core/event.ts'
import { uncited } from './source-line.ts'
import { createTerminalFilter, terminalLine } from './terminal-text.ts'

export interface Turn {
  agentId: string
  message: string
  /** None: the server makes a session, and `end` says which. */
  sessionId: string | undefined
  signal: AbortSignal
}

/** What a person sees of an answer; every text is safe for the terminal. */
export type TurnEvent =
  | { type: 'text'; text: string }
  | { type: 'tool'; name: string; error: string | undefined }
  | { type: 'source'; source: SourceEvent }
  | { type: 'input_required'; prompt: string }
  | { type: 'error'; message: string }
  | { type: 'end'; sessionId: string | undefined }

/**
 * One message and its answer: the text as it comes over A2A, then what the run recorded besides (tools, sources), which a
 * server without X-Run-Id does not tell. Aborting or leaving cancels the run.
 */
export async function* runTurn(client: Client, turn: Turn): AsyncGenerator<TurnEvent, void, void> {
  const { agentId, message, sessionId, signal } = turn
  const stream = await client.a2a.stream({ agentId, content: message, contextId: sessionId }, { signal })
  const clean = createTerminalFilter()
  let answer = ''
  for await (const event of stream) {
    if (event.type === 'content') {
      const text = clean(event.content)
      answer += text
      yield { type: 'text', text }
    } else if (event.type === 'error') yield { type: 'error', message: terminalLine(event.message) }
  }
  if (stream.runId !== undefined) yield* readRecord(client, stream.runId, answer, signal)
  yield { type: 'end', sessionId: stream.sessionId ?? sessionId }
}

async function* readRecord(
  client: Client,
  runId: string,
  answer: string,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void, void> {
  const sources: SourceEvent[] = []
  for await (const event of await client.runs.events(runId, { after: 0, signal })) {
    if (event.type === 'source') sources.push(event)
    const shown = showEvent(event)
    if (shown !== undefined) yield shown
  }
  for (const source of uncited(sources, answer)) yield { type: 'source', source }
}

function showEvent(event: RunEvent): TurnEvent | undefined {
  if (event.type === 'input_required') return { type: 'input_required', prompt: terminalLine(event.prompt) }
  if (event.type !== 'tool_result') return undefined
  const error = event.error === undefined ? undefined : terminalLine(event.error.message)
  return { type: 'tool', name: terminalLine(event.name), error }
}

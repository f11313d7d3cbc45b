import { createInterface } from 'node:readline'
import type { Client } from '../../client/client.ts'
import { exit } from '../command/exit-codes.ts'
import { formatSource } from '../runs/source-line.ts'
import { say, write } from '../terminal/output.ts'
import { terminalJson } from '../terminal/text.ts'
import { runTurn, type Turn } from './turn.ts'

export interface ChatSettings {
  agentId: string
  sessionId: string | undefined
  /** A single message; undefined: one message per line of stdin. */
  message: string | undefined
  json: boolean
  signal: AbortSignal
}

/** A conversation without a terminal: answers or events on stdout. The exit code is success when all runs completed. */
export async function chatByLines(client: Client, settings: ChatSettings): Promise<number> {
  let { sessionId } = settings
  let exitCode: number = exit.ok
  for await (const message of messages(settings)) {
    const turn = { agentId: settings.agentId, message, sessionId, follow: false, signal: settings.signal }
    const outcome = settings.json ? await printEvents(client, turn) : await printAnswer(client, turn)
    sessionId = outcome.sessionId ?? sessionId
    if (outcome.failed) exitCode = exit.failure
  }
  return exitCode
}

interface Outcome {
  failed: boolean
  sessionId: string | undefined
}

async function* messages({ message, signal }: ChatSettings): AsyncGenerator<string> {
  if (message !== undefined) {
    yield message
    return
  }
  const lines = createInterface({ input: process.stdin, signal })
  for await (const line of lines) if (line.trim() !== '') yield line
  signal.throwIfAborted()
}

async function printAnswer(client: Client, turn: Turn): Promise<Outcome> {
  const outcome: Outcome = { failed: false, sessionId: undefined }
  let last = '\n'
  for await (const event of runTurn(client, turn)) {
    if (event.type === 'text') {
      if (event.text !== '') last = event.text
      await write(event.text)
      continue
    }
    if (!last.endsWith('\n') && (event.type === 'source' || event.type === 'question' || event.type === 'end')) {
      await write('\n')
      last = '\n'
    }
    if (event.type === 'source') await write(`${formatSource(event.source)}\n`)
    else if (event.type === 'question') say(`The run is waiting for an answer: ${event.question.prompt}`)
    else if (event.type === 'error') say(event.message)
    if (event.type === 'error' || event.type === 'question') outcome.failed = true
    if (event.type === 'end') outcome.sessionId = event.end.sessionId
  }
  return outcome
}

/** The run's recorded events, or the A2A stream's when the server sends no run id. */
async function printEvents(client: Client, { agentId, message, sessionId, signal }: Turn): Promise<Outcome> {
  const stream = await client.a2a.stream({ agentId, content: message, contextId: sessionId }, { signal })
  const { runId } = stream
  const outcome: Outcome = { failed: false, sessionId: stream.sessionId ?? sessionId }
  const read = async () => {
    for await (const event of stream) {
      if (event.type === 'error') outcome.failed = true
      if (runId === undefined) await write(`${terminalJson(event)}\n`)
    }
  }
  const record = async () => {
    if (runId === undefined) return
    for await (const event of await client.runs.events(runId, { signal })) await write(`${terminalJson(event)}\n`)
  }
  await Promise.all([read(), record()])
  return outcome
}

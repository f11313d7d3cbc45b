import { createInterface } from 'node:readline'
import type { Client } from '../../client/client.ts'
import { AppError, isAppError } from '../../core/error.ts'
import { isFinalEvent } from '../../core/event.ts'
import type { Waiting } from '../../core/run.ts'
import { UsageError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import { formatSource } from '../runs/source-line.ts'
import { toWaiting } from '../runs/waiting.ts'
import { hint } from '../terminal/called-as.ts'
import { isDumb } from '../terminal/has-terminal.ts'
import { formatFile } from '../terminal/message-text.ts'
import { say, write } from '../terminal/output.ts'
import { paintFor } from '../terminal/paint.ts'
import { terminalJson, terminalLine } from '../terminal/text.ts'
import { LineQuestions } from './line-questions.ts'
import { findPaused, leftWaiting, type PausedRun, resumedWith, takesText } from './piped-run.ts'
import type { Attachment } from './turn/attachment.ts'
import { contentOf, type ResumedTurn, resumeTurn, runTurn, type Turn } from './turn/turn.ts'

export interface ChatSettings {
  agentId: string
  sessionId: string | undefined
  /** A single message; undefined: one message per line of stdin. */
  message: string | undefined
  /** For the first message. */
  files?: readonly Attachment[] | undefined
  json: boolean
  signal: AbortSignal
  /** What is sent for the first line. */
  standIn?: ((line: string) => string) | undefined
}

/**
 * A conversation line by line: answers or events on stdout. A text answers the run that waits for input; a run that waits for
 * anything else ends the conversation, unless a person is there to ask. The exit code is success when all runs completed.
 */
export async function chatByLines(client: Client, settings: ChatSettings): Promise<number> {
  let { sessionId, files = [] } = settings
  const { agentId, json, signal } = settings
  let exitCode: number = exit.ok
  let paused: PausedRun | undefined
  if (sessionId !== undefined) paused = await findPaused(client, sessionId, signal)
  const isAsked = settings.message === undefined && !json && process.stdin.isTTY && process.stderr.isTTY
  let asked = new LineQuestions(isAsked ? paused : undefined)
  for await (const message of messages(settings, () => isAsked && process.stderr.write(asked.prompt))) {
    if (paused !== undefined && !takesText(paused)) {
      if (!asked.canBeAnswered) break
      if (!asked.answer(message)) continue
    }
    if (paused !== undefined && files.length > 0)
      throw new UsageError("The session's run is waiting for an answer, which can't have files. Answer it first.")
    const turn = { agentId, message, files, sessionId, follow: false, signal }
    files = []
    const resumed = paused && (await resumedWith(client, paused, message, turn, asked.taken))
    const outcome = json ? await printEvents(client, turn, resumed) : await printAnswer(client, turn, resumed)
    sessionId = outcome.sessionId ?? sessionId
    paused = outcome.paused
    if (outcome.failed) exitCode = exit.failure
    asked = new LineQuestions(isAsked ? paused : undefined)
  }
  if (paused === undefined) return exitCode
  say(leftWaiting(paused))
  return exit.failure
}

interface Outcome {
  failed: boolean
  sessionId: string | undefined
  paused: PausedRun | undefined
}

/** An empty one where files are all that is given. */
async function* messages(
  { message, files = [], signal, standIn }: ChatSettings,
  prompt: () => unknown,
): AsyncGenerator<string> {
  if (message !== undefined) {
    yield message
    return
  }
  const lines = createInterface({ input: process.stdin, signal })
  let isFirst = true
  prompt()
  for await (const line of lines) {
    if (line.trim() !== '') {
      yield isFirst && standIn !== undefined ? standIn(line.trim()) : line
      isFirst = false
    }
    prompt()
  }
  signal.throwIfAborted()
  // A person who ends the input has changed their mind.
  if (isFirst && files.length > 0 && !process.stdin.isTTY) yield ''
}

async function printAnswer(client: Client, turn: Turn, resumed?: ResumedTurn): Promise<Outcome> {
  const outcome: Outcome = { failed: false, sessionId: undefined, paused: undefined }
  const waiting: Waiting[] = []
  const answer = await answerWriter()
  try {
    for await (const event of resumed === undefined ? runTurn(client, turn) : resumeTurn(client, resumed)) {
      if (event.type === 'text') {
        await write(answer.push(event.text))
        continue
      }
      if (['file', 'source', 'question', 'end'].includes(event.type)) await write(answer.end())
      if (event.type === 'file') await write(`${formatFile(event.file)}\n`)
      else if (event.type === 'source') await write(`${formatSource(event.source)}\n`)
      else if (event.type === 'question') waiting.push(event.question.request)
      else if (event.type === 'error') {
        say(event.message)
        outcome.failed = true
      } else if (event.type === 'end') {
        outcome.sessionId = event.end.sessionId
        if (waiting.length > 0) outcome.paused = { run_id: event.end.runId ?? '', waiting }
      }
    }
  } catch (error) {
    const told = unfinished(error)
    if (told !== error) await write(answer.end())
    throw told
  }
  return outcome
}

/** Where to find what a lost connection has cut off. */
function unfinished(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'unavailable' || error.runId === undefined) return error
  const command = hint(`runs show ${terminalLine(error.runId)}`)
  const message = `${error.message}. The answer is not complete: \`${command}\` shows what is recorded.`
  return new AppError('unavailable', message, { cause: error })
}

/** What streamed text is printed as; `end` closes its last line. */
interface AnswerWriter {
  push(text: string): string
  end(): string
}

/** Rendered in a terminal that can show it, else as it comes. */
async function answerWriter(): Promise<AnswerWriter> {
  const { stdout } = process
  if (stdout.isTTY && !isDumb()) {
    const { MarkdownWriter } = await import('../markdown/writer.tsx')
    return new MarkdownWriter({ columns: stdout.columns || 80, paint: paintFor(stdout) })
  }
  let last = '\n'
  const take = (text: string) => {
    if (text !== '') last = text
    return text
  }
  return { push: take, end: () => take(last.endsWith('\n') ? '' : '\n') }
}

/** The run's recorded events, or the A2A stream's when the server sends no run id. */
async function printEvents(client: Client, turn: Turn, resumed?: ResumedTurn): Promise<Outcome> {
  const { agentId, sessionId, signal } = turn
  const outcome: Outcome = { failed: false, sessionId, paused: undefined }
  const waiting: Waiting[] = []
  const record = async (runId: string | undefined, after: number) => {
    if (runId === undefined) return
    for await (const event of await client.runs.events(runId, { after, signal })) {
      await write(`${terminalJson(event)}\n`)
      if (event.type === 'input_required') waiting.push(toWaiting(event))
      if (isFinalEvent(event))
        outcome.failed ||= event.type === 'run_error' || !/^(completed|input_required)$/.test(event.status)
    }
    if (waiting.length > 0) outcome.paused = { run_id: runId, waiting }
  }
  if (resumed !== undefined) {
    const { runId, answer, after } = resumed
    await client.runs.resume(runId, { ...answer, background: true }, { signal })
    await record(runId, after)
    return outcome
  }
  const stream = await client.a2a.stream({ agentId, content: contentOf(turn), contextId: sessionId }, { signal })
  const { runId } = stream
  outcome.sessionId = stream.sessionId ?? sessionId
  const read = async () => {
    for await (const event of stream) {
      if (event.type === 'error' && runId === undefined) outcome.failed = true
      if (runId === undefined) await write(`${terminalJson(event)}\n`)
    }
  }
  await Promise.all([read(), record(runId, 0)])
  return outcome
}

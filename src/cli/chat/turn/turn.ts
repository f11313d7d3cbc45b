import type { Client } from '../../../client/client.ts'
import type { A2APart, ResumeRequest } from '../../../client/index.ts'
import { isAppError } from '../../../core/error.ts'
import type { SourceEvent } from '../../../core/event.ts'
import type { Json } from '../../../core/json.ts'
import type { FilePart } from '../../../core/message.ts'
import { citedFirst, markCited } from '../../../core/text/citations.ts'
import { pause } from '../../../runtime/abort.ts'
import { Channel } from '../../../runtime/channel.ts'
import type { TurnEvent } from '../../runs/activity.ts'
import { unlisted } from '../../runs/source-line.ts'
import type { ShownFile } from '../../terminal/message-text.ts'
import { createTerminalFilter, terminalLine } from '../../terminal/text.ts'
import { type Attachment, partOf } from './attachment.ts'
import { RunReader, searchedChars } from './record.ts'

export interface Turn {
  agentId: string
  message: string
  /** The input of a workflow, instead of the message. */
  data?: Json | undefined
  files?: readonly Attachment[] | undefined
  /** Undefined: the server creates a session, and `end` has its id. */
  sessionId: string | undefined
  /**
   * Whether the run outlives the connection. If so, a cut stream continues from the run's record, and leaving cancels
   * the run by id, which needs a `sessionId`. Otherwise the server cancels a run when its reader disconnects.
   */
  follow: boolean
  signal: AbortSignal
}

/** The answer to one request of a run. */
export type CallAnswer = NonNullable<ResumeRequest['answers']>[string]

export interface ResumedTurn extends Pick<Turn, 'sessionId' | 'signal'> {
  runId: string
  after: number
  /** Undefined: somebody else has answered. */
  answer?: { approved?: Record<string, boolean>; input?: Json; answers?: Record<string, CallAnswer> } | undefined
}

const cancelMs = 3000

/**
 * Sends one message and streams its answer: the text over A2A; tools, steps, sources and questions from the run's
 * record, when the server sends X-Run-Id. Aborting or leaving cancels the run.
 */
export function runTurn(client: Client, turn: Turn): AsyncGenerator<TurnEvent, void, void> {
  return shown(client, turn.signal, turn.follow ? turn.sessionId : undefined, (reader) => talk(client, turn, reader))
}

/** Answers a paused run or resumes an interrupted workflow, unless somebody else has, and streams what follows. */
export function resumeTurn(client: Client, turn: ResumedTurn): AsyncGenerator<TurnEvent, void, void> {
  const { runId, sessionId, after, answer, signal } = turn
  return shown(client, signal, sessionId, async (reader) => {
    reader.begin(runId, sessionId, after)
    if (answer !== undefined)
      await client.runs.resume(runId, { ...answer, background: true }, { signal: reader.signal })
    await takeUp(reader)
    return reader.finish(undefined)
  })
}

async function* shown(
  client: Client,
  signal: AbortSignal,
  cancelIn: string | undefined,
  work: (reader: RunReader) => Promise<void>,
): AsyncGenerator<TurnEvent, void, void> {
  const feed = new Channel<TurnEvent>(512)
  const leaving = new AbortController()
  const reader = new RunReader(client, (event) => feed.offer(event), AbortSignal.any([signal, leaving.signal]))
  const done = work(reader).then(
    () => feed.close(),
    (error: unknown) => feed.close({ error }),
  )
  const clean = createTerminalFilter()
  const cleanReasoning = createTerminalFilter()
  const sources: SourceEvent[] = []
  let answer = ''
  let ended = false
  const abort = () => feed.close({ error: signal.reason })
  signal.addEventListener('abort', abort, { once: true })
  try {
    for await (const event of feed) {
      if (event.type === 'source') {
        sources.push(event.source)
        continue
      }
      if (event.type === 'text') {
        const text = clean(event.text)
        if (answer.length < searchedChars) answer += text
        yield { type: 'text', text }
        continue
      }
      if (event.type === 'reasoning') {
        yield { type: 'reasoning', text: cleanReasoning(event.text) }
        continue
      }
      if (event.type === 'end') {
        ended = true
        const marked = citedFirst(markCited(sources, reader.parts))
        for (const source of unlisted(marked, answer)) yield { type: 'source', source }
      }
      yield event
    }
    ended = true
  } catch (error) {
    ended = !signal.aborted
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
    leaving.abort()
    feed.close()
    await done
    if (!ended && cancelIn !== undefined) await cancel(client, reader.runId, cancelIn)
  }
}

/** In A2A a file is a data part. */
export function contentOf({ message, data, files = [] }: Pick<Turn, 'message' | 'data' | 'files'>): string | A2APart[] {
  if (data !== undefined) return [{ type: 'data', data: JSON.stringify(data) }]
  if (files.length === 0) return message
  const parts = files.map((file): A2APart => ({ type: 'data', data: JSON.stringify(partOf(file)) }))
  return message === '' ? parts : [{ type: 'text', content: message }, ...parts]
}

/** Undefined for other data. */
function fileIn(content: string): ShownFile | undefined {
  try {
    const { type, media_type, name, size, url } = Object(JSON.parse(content)) as Partial<FilePart>
    if (type !== 'file' || typeof media_type !== 'string') return undefined
    return {
      media_type,
      ...(typeof name === 'string' && { name }),
      ...(typeof size === 'number' && { size }),
      ...(typeof url === 'string' && { url }),
    }
  } catch {
    return undefined
  }
}

async function talk(client: Client, turn: Turn, reader: RunReader): Promise<void> {
  const { agentId, sessionId, follow } = turn
  const onDisconnect = follow ? ('continue' as const) : undefined
  const input = { agentId, content: contentOf(turn), contextId: sessionId, onDisconnect, markData: true }
  // A cut is shown, and the stream continues from the record.
  const stream = await client.a2a.stream(input, { signal: reader.signal, reconnects: 0 })
  reader.begin(stream.runId, stream.sessionId ?? sessionId, 0)
  const record = reader.read({ takesText: false }).catch((error: unknown) => error)
  let failure: string | undefined
  let cut: unknown
  try {
    for await (const event of stream) {
      if (event.type === 'content')
        await reader.text(event.content, event.part === 'data' ? fileIn(event.content) : undefined)
      else if (event.type === 'error') failure = terminalLine(event.message)
    }
  } catch (error) {
    cut = error
  }
  reader.textEnded(cut === undefined)
  const lost = await record
  if (cut !== undefined && (!follow || reader.runId === undefined || !isUnavailable(cut))) throw cut
  if (reader.runId !== undefined && !reader.hasEnded && (cut !== undefined || (follow && isUnavailable(lost)))) {
    await takeUp(reader)
  }
  await reader.finish(failure)
}

/** Reads the record to its end and reconnects for about five minutes. */
async function takeUp(reader: RunReader): Promise<void> {
  let lost = false
  for (let tries = 0; ; tries++) {
    try {
      await reader.read({ takesText: true, onLife: () => lost && reader.say({ type: 'connection', lost: false }) })
      return
    } catch (error) {
      reader.signal.throwIfAborted()
      if (!isUnavailable(error) || tries >= 60) throw error
    }
    if (!lost) await reader.say({ type: 'connection', lost: true })
    lost = true
    await pause(Math.min(2000, 100 * 2 ** tries), reader.signal)
  }
}

async function cancel(client: Client, known: string | undefined, sessionId: string): Promise<void> {
  const options = { timeoutMs: cancelMs }
  try {
    // Before its first event the run has not sent its id.
    const runId = known ?? (await client.sessions.runs(sessionId, {}, { ...options, limit: 1 })).runs[0]?.run_id
    if (runId !== undefined) await client.runs.cancel(runId, undefined, options)
  } catch {
    // The run has just ended or the server is unreachable: no other way to cancel is left.
  }
}

function isUnavailable(error: unknown): boolean {
  return isAppError(error) && error.code === 'unavailable'
}

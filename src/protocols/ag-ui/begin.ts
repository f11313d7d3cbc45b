import { hash } from 'node:crypto'
import { AppError, invalid, isAppError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { RunRecord } from '../../core/run.ts'
import { kindOf } from '../../core/waiting.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { RunHandle, StartGiven, StartRun } from '../../service/services.ts'
import { assertFew, type PostedPart, withContents } from '../kept-file.ts'
import { firstSeqOf } from '../stretch.ts'
import { findTurn } from '../turns.ts'
import type { AgUiServices } from './ag-ui.ts'
import { findAnswered, mismatch, type Refusal } from './answers.ts'
import { type FileIdOf, readContent } from './content.ts'
import { historyOf } from './history.ts'
import { runOfMessage } from './ids.ts'
import type { AgUiInput } from './request.ts'

export type Begun =
  | { kind: 'run'; handle: RunHandle; from: number; ignored: readonly string[] }
  | { kind: 'given up'; run: RunRecord }
  | Refusal

export interface Beginning {
  services: AgUiServices
  request: HttpRequest
  agentId: string
  input: AgUiInput
  /** The run goes on when the client leaves. */
  continues: boolean
  /** How many files a run may bring. */
  maxFiles: number
  fileIdOf: FileIdOf
}

export const protocolName = 'ag-ui'

/** Starts, joins, resumes or replaces the run that the request wants. */
export async function beginRun(beginning: Beginning): Promise<Begun> {
  const { input, services } = beginning
  if (input.resume.length > 0) return answer(beginning)
  const newest = await newestTurn(services, input.threadId)
  if (newest?.status === 'input_required') {
    const run = await services.runs.get(newest.run_id)
    if (isOf(run, input.runId)) return follow(beginning, run)
    const question = run.waiting.find((one) => kindOf(one) !== 'tool')
    if (question !== undefined) {
      const message = `The thread waits for an answer. Send it as resume: ${question.prompt}`
      return { kind: 'refusal', code: 'interrupt_pending', message }
    }
  }
  if (input.messages.length > input.earlier) return start(beginning, newest)
  if (input.messages.at(-1)?.role === 'tool') return answer(beginning)
  // Sent again when the client has a part of the answer.
  const again = newest && (await services.runs.get(newest.run_id))
  if (again !== undefined && isOf(again, input.runId)) return follow(beginning, again)
  throw invalid('messages must end with a message of the user, or of a tool whose call waits.', 'messages')
}

/** Whether the client started the run under this name. */
function isOf({ given }: RunRecord, runId: string): boolean {
  return given?.protocol?.name === protocolName && given.protocol.echo.run_id === runId
}

async function follow({ services }: Beginning, run: RunRecord, from = 1): Promise<Begun> {
  const { run_id: runId, session_id: sessionId } = run
  const events = await services.runs.events(runId, 0)
  const result = async () => run
  return { kind: 'run', handle: { runId, sessionId, replayed: true, events: () => events, result }, from, ignored: [] }
}

async function answer(beginning: Beginning): Promise<Begun> {
  const { services } = beginning
  const answered = await findAnswered(services, beginning.input)
  switch (answered.kind) {
    case 'refusal':
      return answered
    case 'follow':
      return follow(beginning, answered.run, answered.from)
    case 'give up': {
      const { run } = answered
      if (run.status !== 'cancelled') await services.runs.cancel(run.run_id)
      return { kind: 'given up', run }
    }
    case 'resume': {
      const { run_id: runId } = answered.run
      try {
        const handle = await services.runs.resume(runId, { ...answered.answer, ...modeOf(beginning) })
        return { kind: 'run', handle, from: await firstSeqOf(handle), ignored: [] }
      } catch (error) {
        return refused(beginning, runId, error)
      }
    }
  }
}

/** An answer that the run can't take leaves it waiting; one that came second is too late. */
async function refused({ services }: Beginning, runId: string, error: unknown): Promise<Refusal> {
  if (!isAppError(error)) throw error
  if (error.code === 'invalid_request') return mismatch(error.message)
  if (error.code !== 'conflict') throw error
  const { status } = await services.runs.get(runId)
  if (status === 'input_required') throw error
  return mismatch(`The run '${runId}' was answered already, in another way. ${error.message}`)
}

/** The latest turn of the thread; undefined also for a new thread. */
async function newestTurn({ sessions }: AgUiServices, threadId: string): Promise<RunRecord | undefined> {
  try {
    return (await sessions.history(threadId, 1, false)).runs.at(-1)
  } catch (error) {
    if (isAppError(error) && error.code === 'session_not_found') return undefined
    throw error
  }
}

async function start(beginning: Beginning, newest: RunRecord | undefined): Promise<Begun> {
  const { services, request, agentId, input, maxFiles, fileIdOf } = beginning
  const { threadId, runId, messages, earlier, options } = input
  const posted = messages.slice(earlier).map(({ id, fields, path }): ReadMessage => {
    return { id, parts: readContent(fields.content, `${path}.content`, fileIdOf) }
  })
  const last = posted.at(-1)
  const parts = unanswered(posted, newest).flatMap((message) => message.parts)
  if (parts.length === 0 || last === undefined) throw invalid('The message of the user has no content.', 'messages')
  assertFew(parts, maxFiles, 'messages')
  const { given, ignored } = givenIn(beginning, newest === undefined)
  const about = hash('sha256', JSON.stringify([threadId, agentId, runId]), 'base64url')
  const start: StartRun = {
    entityId: agentId,
    parts: await withContents(services.sessions, threadId, parts),
    messageId: last.id,
    sessionId: threadId,
    unknownSession: 'create',
    userId: options.user_id,
    metadata: metadataOf(input),
    state: input.state,
    given,
    replaces: newest && (await replacedBy(beginning, newest, last.id)),
    ...modeOf(beginning),
    idempotency: {
      key: `ag-ui ${request.caller} ${request.userId ?? ''} ${about}`,
      hash: hash('sha256', JSON.stringify(parts), 'base64url'),
      whileRunning: 'join',
    },
  }
  try {
    const handle = await services.runs.start(start)
    return { kind: 'run', handle, from: 1, ignored: [...ignored, ...(handle.ignored ?? [])] }
  } catch (error) {
    throw inWordsOfRequest(error)
  }
}

interface ReadMessage {
  id: string
  parts: PostedPart[]
}

/** Without what has a turn of its own already, which came to no answer: it is in the record. */
function unanswered(posted: readonly ReadMessage[], newest: RunRecord | undefined): readonly ReadMessage[] {
  const input = newest?.messages.find(({ role }) => role === 'user')
  const known = posted.findLastIndex(({ id }) => id === input?.message_id)
  if (known < posted.length - 1) return posted.slice(known + 1)
  // The last turn again: of all these messages, or of the last one.
  const isOfAll = posted.flatMap(({ parts }) => parts).length <= (input?.parts.length ?? 0)
  return isOfAll ? posted : posted.slice(-1)
}

/** The turn whose message comes again under another run: to be answered anew, or edited. */
async function replacedBy(
  { services, input }: Beginning,
  newest: RunRecord,
  messageId: string,
): Promise<string | undefined> {
  const { runId, messages } = input
  if (newest.messages.some(({ role, message_id }) => role === 'user' && message_id === messageId)) {
    return isOf(await services.runs.get(newest.run_id), runId) ? undefined : newest.run_id
  }
  const said = messages.findLast(({ role, id }) => role === 'assistant' && runOfMessage(id) !== undefined)
  if (said !== undefined && runOfMessage(said.id) === newest.run_id) return undefined
  // A client that sends its last message alone says nothing of the turns before it, with each message.
  const pages = said === undefined ? 1 : undefined
  return (await findTurn(services, input.threadId, messageId, pages))?.run.run_id
}

/** `isNew`: the thread. */
function givenIn({ services, agentId, input }: Beginning, isNew: boolean): { given: StartGiven; ignored: string[] } {
  const { tools, instructions, runId } = input
  const { takes = [] } = services.registry.get(agentId)
  const given: StartGiven = { protocol: { name: protocolName, echo: { run_id: runId } } }
  const isTaken = takes.includes('client_tools')
  if (tools.length > 0 && isTaken) given.client_tools = tools
  if (instructions !== undefined) given.instructions = instructions
  const history = historyOf(input, isNew)
  if (history !== undefined) given.history = history
  return { given, ignored: tools.length > 0 && !isTaken ? ['tools'] : [] }
}

function metadataOf({ forwarded, options }: AgUiInput): JsonObject | undefined {
  if (forwarded === undefined) return options.metadata
  return { ...options.metadata, ag_ui: forwarded }
}

/** The protocol cancels when the last reader has left (`Leaving`). */
function modeOf({ continues }: Beginning): Pick<StartRun, 'mode' | 'onDisconnect'> {
  return continues ? { mode: 'background' } : { mode: 'stream', onDisconnect: 'continue' }
}

const words: readonly [RegExp, string][] = [
  [/^(?:input|parts|history|message_id)\b/, 'messages'],
  [/^client_tools\b/, 'tools'],
  [/^instructions\b/, 'context'],
  [/^metadata\b/, 'forwardedProps'],
]

/** What the engine says of its own fields is told of those that the client sent. */
function inWordsOfRequest(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'invalid_request') return error
  const details = error.details.map(({ path, message }) => {
    const [pattern, name] = words.find(([one]) => one.test(path)) ?? []
    return { path: pattern === undefined || name === undefined ? path : path.replace(pattern, name), message }
  })
  const { message, runId, sessionId } = error
  return new AppError('invalid_request', message, { details, cause: error, runId, sessionId })
}

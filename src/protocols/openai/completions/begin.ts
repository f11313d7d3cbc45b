import { AppError, isAppError } from '../../../core/error.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { RunRecord } from '../../../core/run.ts'
import type { HttpRequest } from '../../../http/request.ts'
import type { Idempotency, ResumeAnswer, RunHandle, StartGiven, StartRun } from '../../../service/services.ts'
import { attemptOf } from '../attempts.ts'
import { type ReadTools, readClientTools } from '../client-tools.ts'
import type { OpenAIServices, OpenAISettings } from '../openai.ts'
import type { CompletionRequest } from './request.ts'
import { type Asking, isOfEndUser, readAsking, Turns } from './session.ts'
import {
  callIdsOf,
  type Decision,
  decided,
  decisionOf,
  findApprovals,
  findCalls,
  type WaitingAnswer,
} from './waiting.ts'

export interface Begun {
  handle: RunHandle
  /** The run was resumed: its answer begins there. */
  isResumed: boolean
  asking: Asking
  /** Fields that the run does not use. */
  ignored: readonly string[]
  /** The names of the tools that the caller executes. */
  clientTools: ReadonlySet<string>
  /** Keeps a completed turn, whose session has the whole conversation, to be found again. */
  remember: ((answer: string) => Promise<void>) | undefined
}

interface Beginning {
  services: OpenAIServices
  request: HttpRequest
  posted: CompletionRequest
  asking: Asking
  turns: Turns
  attempt: Idempotency | undefined
  tools: ReadTools
}

const protocol = 'openai.chat'

/** Starts, joins or resumes the run that a posted conversation wants. */
export async function beginRun(
  services: OpenAIServices,
  request: HttpRequest,
  posted: CompletionRequest,
  settings: Pick<OpenAISettings, 'sessionFromUser'>,
): Promise<Begun> {
  const { takes = [] } = services.registry.get(posted.model)
  const asking = readAsking(request, posted, settings)
  const tools = readClientTools(posted.body, takes.includes('client_tools'))
  const attempt = attemptOf(request, protocol, posted.body, asking.named)
  const turns = new Turns(services, request, posted.model, asking.endUser)
  const beginning: Beginning = { services, request, posted, asking, turns, attempt, tools }
  try {
    const waiting = await findWaiting(beginning)
    return waiting === undefined ? await start(beginning) : await resume(beginning, waiting)
  } catch (error) {
    throw inWordsOfRequest(error)
  }
}

/** The paused run that the request answers. */
async function findWaiting(beginning: Beginning): Promise<WaitingAnswer | undefined> {
  const { services, posted, asking } = beginning
  const { conversation } = posted
  if (conversation.outcomes.length > 0) return findCalls(services, posted, asking)
  const decision = asking.named === undefined ? undefined : decisionOf(conversation.onlyText())
  if (decision === undefined) return undefined
  const before = beginning.attempt?.attempt === 'again' ? await decidedBefore(beginning, decision) : undefined
  return before ?? findApprovals(services, posted, asking, decision)
}

/** A client that decided, and whose connection broke, decides again: the run may wait for something else by now. */
async function decidedBefore(
  { services, attempt, asking }: Beginning,
  decision: Decision,
): Promise<WaitingAnswer | undefined> {
  const mark = await newestMark(services, attempt)
  if (mark === undefined) return undefined
  const { run_id: runId, end_seq: endSeq, call_ids: callIds } = mark
  const run = await services.runs.get(runId)
  if (run.session_id !== asking.named || !isOfEndUser(run.metadata, asking.endUser)) return undefined
  if (run.status === 'input_required' && run.end_seq !== endSeq && callIdsOf(run).some((id) => callIds.includes(id))) {
    const message = 'The run waits for another decision by now. Ask for its question first.'
    throw new AppError('conflict', message, { runId, sessionId: run.session_id })
  }
  return { run, answer: decided(callIds, decision) }
}

interface DecisionMark extends JsonObject {
  run_id: string
  /** Of the pause. */
  end_seq: number | null
  call_ids: string[]
}

/** Decisions of a day that look the same: later ones are not told apart. */
const mostAlike = 100

/** A client that posts its last message alone decides about each run with the same request. */
function decisionKey(attempt: Idempotency | undefined, place: number): string {
  return `openai decision ${attempt?.key} ${place}`
}

async function addMark({ bookmarks }: OpenAIServices, attempt: Idempotency, mark: DecisionMark): Promise<void> {
  for (let place = 0; place < mostAlike; place++) if (await bookmarks.add(decisionKey(attempt, place), mark)) return
}

async function newestMark({ bookmarks }: OpenAIServices, attempt: Idempotency | undefined) {
  let newest: DecisionMark | undefined
  for (let place = 0; place < mostAlike; place++) {
    const mark = (await bookmarks.find(decisionKey(attempt, place))) as DecisionMark | undefined
    if (mark === undefined) break
    newest = mark
  }
  return newest
}

async function resume(beginning: Beginning, { run, answer }: WaitingAnswer): Promise<Begun> {
  const { services, posted, attempt } = beginning
  if (attempt !== undefined && run.waiting.length > 0) {
    const mark: DecisionMark = { run_id: run.run_id, end_seq: run.end_seq, call_ids: callIdsOf(run) }
    await addMark(services, attempt, mark)
  }
  const handle = await services.runs.resume(run.run_id, { ...answer, ...modeOf(posted) })
  return begun(beginning, handle, { isResumed: true, isWhole: wasWhole(run) })
}

async function start(beginning: Beginning): Promise<Begun> {
  const { posted, asking, turns } = beginning
  const { conversation } = posted
  const { named, isTask } = asking
  if (named !== undefined) return startIn(beginning, { sessionId: named, isWhole: false })
  const found = isTask ? undefined : await turns.find(conversation)
  if (found !== undefined) {
    try {
      return await startIn(beginning, { sessionId: found, isWhole: true, strategy: 'reject' })
    } catch (error) {
      // Another request has just continued it, and this one does not know of that turn.
      if (!isAppError(error) || error.code !== 'conflict') throw error
    }
  }
  const history = conversation.history()
  return startIn(beginning, { history, isWhole: history === undefined && turns.areTold && !isTask })
}

interface Place {
  /** Absent: a new one. */
  sessionId?: string
  history?: StartGiven['history']
  /** The session has the whole conversation of the client. */
  isWhole: boolean
  strategy?: StartRun['strategy']
}

async function startIn(beginning: Beginning, { sessionId, history, isWhole, strategy }: Place): Promise<Begun> {
  const { services, posted, attempt, tools } = beginning
  const { conversation, outputSchema, model } = posted
  const instructions = conversation.instructions()
  const given: StartGiven = { protocol: { name: protocol, echo: { whole: isWhole } } }
  if (tools.client_tools !== undefined) given.client_tools = tools.client_tools
  if (history !== undefined) given.history = history
  if (instructions !== undefined) given.instructions = instructions
  if (outputSchema !== undefined) given.output_schema = outputSchema
  const start: StartRun = {
    entityId: model,
    parts: conversation.input(),
    sessionId,
    unknownSession: 'create',
    metadata: metadataOf(beginning),
    given,
    strategy,
    ...modeOf(posted),
    idempotency: attempt,
  }
  const handle = await services.runs.start(start)
  // A retry joins a run that an earlier request has found the place for.
  const inWhole = handle.replayed ? wasWhole(await services.runs.get(handle.runId)) : isWhole
  return begun(beginning, handle, { isResumed: false, isWhole: inWhole })
}

/** The protocol cancels when its last reader has left (`Leaving`). */
function modeOf({ stream }: CompletionRequest): Pick<ResumeAnswer, 'mode' | 'onDisconnect'> {
  return { mode: stream ? 'stream' : 'plain', onDisconnect: 'continue' }
}

function begun(
  { posted, asking, turns, tools }: Beginning,
  handle: RunHandle,
  { isResumed, isWhole }: Pick<Begun, 'isResumed'> & Pick<Place, 'isWhole'>,
): Begun {
  const turn = { run_id: handle.runId, session_id: handle.sessionId }
  return {
    handle,
    isResumed,
    asking,
    ignored: [...new Set([...posted.ignored, ...tools.ignored, ...(handle.ignored ?? [])])],
    clientTools: new Set(tools.client_tools?.map(({ name }) => name)),
    remember: isWhole ? turns.keeper(posted.conversation, turn) : undefined,
  }
}

function wasWhole({ given }: RunRecord): boolean {
  return given?.protocol?.name === protocol && given.protocol.echo.whole === true
}

/** Under its own name: none of it is ours. */
function metadataOf({ posted, asking }: Beginning): JsonObject | undefined {
  const openai: JsonObject = {}
  if (asking.endUser !== undefined) openai.user = asking.endUser
  if (posted.metadata !== undefined) openai.metadata = { ...posted.metadata } as JsonObject
  if (asking.isTask) openai.task = true
  return Object.keys(openai).length === 0 ? undefined : { openai }
}

/** What the engine says of its own fields is told of those that the client sent. */
function inWordsOfRequest(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'invalid_request') return error
  const [detail, ...more] = error.details
  const param = detail && paramOf(detail.path)
  if (detail === undefined || param === undefined || more.length > 0) return error
  const { message, runId, sessionId } = error
  return new AppError('invalid_request', message, {
    details: [{ path: param, message: detail.message }],
    cause: error,
    runId,
    sessionId,
  })
}

function paramOf(path: string): string | undefined {
  if (/^(?:input|history|instructions|answers)\b/.test(path)) return 'messages'
  if (path.startsWith('client_tools')) return 'tools'
  return path.startsWith('output_schema') ? 'response_format' : undefined
}

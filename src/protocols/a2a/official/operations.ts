import { hopsHeader, toHopsMetadata } from '../../../core/access/hops.ts'
import { isAppError } from '../../../core/error.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { RunHead, RunRecord } from '../../../core/run.ts'
import type { HttpRequest } from '../../../http/request.ts'
import type { RunHandle } from '../../../service/services.ts'
import { fileReader } from '../../files.ts'
import { toFrames } from '../../frames.ts'
import type { A2AServices } from '../handler.ts'
import { idempotencyOf } from '../message-key.ts'
import { howToAnswer, readAnswers } from './answer.ts'
import { A2AError, invalidParams } from './error.ts'
import { findTask } from './find-task.ts'
import { contentMap, followTask } from './follow.ts'
import { checkPush } from './push.ts'
import { type Fields, readCount, readSend, readTaskId, type SendParams } from './read.ts'
import { isTerminal, type Task } from './shapes.ts'
import { TaskProjection, type Writer } from './stream.ts'
import { answerParts, type FileUrl, stateOf, toTask } from './task.ts'
import type { Version } from './versions.ts'

/** One request about the tasks of one agent. */
export interface Call {
  services: A2AServices
  request: HttpRequest
  agentId: string
  params: Fields
  version: Version
  fileUrl: FileUrl
  /** How much content of files an answer may have. */
  fileBytes: number
}

/** A stream and its task. */
export interface TaskStream {
  runId: string
  sessionId: string
  frames: AsyncIterable<string>
}

/** Waits for the end or a pause. Past the request timeout it answers with the task as it is, which goes on. */
export async function sendMessage(call: Call): Promise<Task> {
  const { services, request } = call
  const message = readSend(call.params)
  const handle = await begin(call, message)
  const ended = message.returnsAtOnce ? undefined : await Promise.race([handle.result(), aborted(request.deadline)])
  return taskOf(call, ended ?? (await services.runs.get(handle.runId)), message.historyLength)
}

/** A new task from its first event; of one that goes on, first the task as it is. */
export async function streamMessage(call: Call, writer: Writer): Promise<TaskStream> {
  const { services } = call
  const message = readSend(call.params)
  const handle = await begin(call, message)
  const run = await services.runs.get(handle.runId)
  const projection = new TaskProjection(run, writer, call.fileUrl, message.historyLength)
  const events = handle.events(0)[Symbol.asyncIterator]()
  const options = followOptions(call, run)
  if (message.taskId !== undefined) {
    return { ...options, frames: await followTask(projection, events, { ...options, isQueued: false }) }
  }
  const opening = run.status === 'queued' ? projection.open() : undefined
  return { ...options, frames: toFrames(projection, events, { ...options, opening }) }
}

export async function getTask(call: Call): Promise<Task> {
  const id = readTaskId(call.params)
  const historyLength = readCount(call.params, 'historyLength')
  await findTask(call, id)
  return taskOf(call, await call.services.runs.get(id), historyLength)
}

export async function cancelTask(call: Call): Promise<Task> {
  const { runs } = call.services
  const id = readTaskId(call.params)
  const run = await findTask(call, id)
  if (isTerminal(stateOf(run))) throw notCancelable(run)
  try {
    return await taskOf(call, await runs.cancel(id))
  } catch (error) {
    if (isAppError(error) && error.code === 'conflict') throw notCancelable(await runs.head(id))
    throw error
  }
}

function notCancelable(run: RunHead): A2AError {
  return new A2AError('TASK_NOT_CANCELABLE', `The task '${run.run_id}' has ended already: ${stateOf(run)}.`)
}

/** The task as it is, then what follows. */
export async function subscribeToTask(call: Call, writer: Writer): Promise<TaskStream> {
  const { runs } = call.services
  const id = readTaskId(call.params)
  const head = await findTask(call, id)
  if (isTerminal(stateOf(head))) {
    throw new A2AError('UNSUPPORTED_OPERATION', `The task '${id}' has ended: ${stateOf(head)}. Get it instead.`)
  }
  const run = await runs.get(id)
  const events = (await runs.events(id, 0, call.request.signal))[Symbol.asyncIterator]()
  const options = followOptions(call, run)
  const projection = new TaskProjection(run, writer, call.fileUrl)
  const frames = await followTask(projection, events, { ...options, isQueued: run.status === 'queued' })
  return { ...options, frames }
}

/** Nothing of the request's body outlives this call: a task may take hours. */
async function begin(call: Call, message: SendParams): Promise<RunHandle> {
  const target = await checkPush(call, message.push)
  const handle = message.taskId === undefined ? await start(call, message) : await goOn(call, message, message.taskId)
  call.request.body.release?.()
  if (target !== undefined) await call.services.notifications?.set(handle.runId, target)
  return handle
}

/** The task goes on when the client leaves, so it runs in the background. */
function start({ services, request, agentId }: Call, message: SendParams): Promise<RunHandle> {
  return services.runs.start({
    entityId: agentId,
    parts: message.parts,
    messageId: message.messageId,
    sessionId: message.contextId,
    unknownSession: 'create',
    mode: 'background',
    metadata: metadataOf(request, message),
    idempotency: idempotencyOf('a2a task', request, { ...message, agentId }),
  })
}

/** What only the agent can follow: it reads it in its context. */
function metadataOf(request: HttpRequest, { acceptedOutputModes: modes }: SendParams): JsonObject | undefined {
  const hops = toHopsMetadata(request.headers[hopsHeader])
  return modes === undefined ? hops : { ...hops, accepted_output_modes: modes }
}

async function goOn(call: Call, message: SendParams, taskId: string): Promise<RunHandle> {
  const { runs } = call.services
  const head = await findTask(call, taskId)
  if (message.contextId !== undefined && message.contextId !== head.session_id) {
    throw invalidParams(`The task '${taskId}' is not in the context '${message.contextId}'.`, 'message.contextId')
  }
  const answers = readAnswers(message.parts, (await runs.get(taskId)).waiting)
  if (head.status === 'input_required' && answers.length === 0) throw invalidParams(howToAnswer, 'message.parts')
  // Only our own API resumes what has been interrupted: the task has failed.
  if (head.status !== 'interrupted') {
    for (const answer of answers) {
      try {
        return await runs.resume(taskId, { ...answer, mode: 'background' })
      } catch (error) {
        // The same answer again follows the task; this is another one, or the task never asked.
        if (!isAppError(error) || error.code !== 'conflict') throw error
        // It still waits: another run of the session is in the way.
        if ((await runs.head(taskId)).status === 'input_required') throw error
      }
    }
  }
  throw takesNoMessage(await runs.head(taskId))
}

function takesNoMessage(run: RunHead): A2AError {
  const hint = 'Send the message without a taskId to begin a new task in the same context.'
  const text = `The task '${run.run_id}' does not wait for a message (${stateOf(run)}). ${hint}`
  return new A2AError('UNSUPPORTED_OPERATION', text)
}

async function taskOf(call: Call, run: RunRecord, historyLength?: number): Promise<Task> {
  const { services, fileBytes, fileUrl } = call
  const read = fileReader(services.sessions, run.session_id)
  const contents = await contentMap(answerParts(run), read, fileBytes)
  return toTask(run, { historyLength, artifacts: true, contents, fileUrl })
}

function followOptions({ services, fileBytes }: Call, run: RunRecord) {
  const { run_id: runId, session_id: sessionId } = run
  const files = { read: fileReader(services.sessions, sessionId), most: fileBytes }
  return { runId, sessionId, logger: services.logger, files }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

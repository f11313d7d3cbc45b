import { hopsHeader, toHopsMetadata } from '../../core/access/hops.ts'
import { AppError, isAppError, logLevelOf } from '../../core/error.ts'
import type { RunRecord } from '../../core/run.ts'
import { isMalformedJson } from '../../http/body/json-guard.ts'
import { json, type Reply, sse } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { RunHandle, Services, StartRun } from '../../service/services.ts'
import type { A2AMethod } from '../../wire/protocols/a2a.ts'
import { contentsOf, fileReader } from '../files.ts'
import { type Batch, toFrames } from '../frames.ts'
import { aboutParams, errorReply, isOurFault, RpcError, type RpcId, rpcCodes } from './error.ts'
import { idempotencyOf } from './message-key.ts'
import { readId, readRequest, type SendRequest } from './request.ts'
import { dialectProjection, hasBegun, onlyFailure } from './stream.ts'
import { answerFiles, toTask } from './task.ts'

export type A2AServices = Pick<Services, 'registry' | 'runs' | 'sessions' | 'notifications' | 'logger'>
/** The services for the caller of a request. Called for each request, so they may open on the first one. */
export type ServicesOf = (request: HttpRequest) => A2AServices | Promise<A2AServices>

const notJson = new RpcError(rpcCodes.parseError, 'parse error: the body is not valid JSON')

/** Answers one method of the dialect. It never throws: every failure is a JSON-RPC response. */
export function createHandler(
  method: A2AMethod,
  servicesOf: ServicesOf,
  fileBytes: number,
): (request: HttpRequest) => Promise<Reply> {
  const answer = method === 'sendMessage' ? send : stream
  return async (request) => {
    const about: About = { id: null, markData: false }
    try {
      return await answer(await begin(servicesOf, request, method, about), fileBytes)
    } catch (error) {
      if (isOurFault(error)) await report(servicesOf, error, request)
      return errorReply(isMalformedJson(error) ? notJson : error, about.id)
    }
  }
}

/** What of a message its answer needs. */
interface About {
  id: RpcId
  markData: boolean
}

interface Begun {
  services: A2AServices
  message: About
  starting: Promise<RunHandle>
}

/** Nothing of the request's body outlives this call and the start: a run may take hours. */
async function begin(servicesOf: ServicesOf, request: HttpRequest, method: A2AMethod, about: About): Promise<Begun> {
  const body = await request.body.json()
  about.id = readId(body)
  const message = readRequest(body, method)
  about.markData = message.markData
  const pending = servicesOf(request)
  const services = pending instanceof Promise ? await pending : pending
  const starting = start(services, request, message, method === 'sendMessage' ? 'plain' : 'stream')
  return { services, message: about, starting }
}

async function send({ services, message, starting }: Begun, fileBytes: number): Promise<Reply> {
  const run = await resultOf(services, starting)
  const files = answerFiles(run)
  const read = fileReader(services.sessions, run.session_id)
  const contents = files.length === 0 ? [] : await contentsOf(files, read, fileBytes)
  const task = toTask(run, new Map(files.map((part, place) => [part, contents[place] ?? part])))
  return json({ jsonrpc: '2.0', id: message.id, result: { task } }, 200, runHeaders(run.run_id, run.session_id))
}

async function resultOf(services: A2AServices, starting: Promise<RunHandle>): Promise<RunRecord> {
  try {
    return await (await starting).result()
  } catch (error) {
    // The same message again after a crash: the same task, which has failed.
    if (isAppError(error) && error.code === 'run_interrupted' && error.runId !== undefined) {
      return services.runs.get(error.runId)
    }
    throw error
  }
}

async function stream({ services, message, starting }: Begun, fileBytes: number): Promise<Reply> {
  const handle = await starting
  const events = handle.events()[Symbol.asyncIterator]()
  const headers = runHeaders(handle.runId, handle.sessionId)
  const first = await firstBatch(events, handle.runId)
  const failure = onlyFailure(first)
  if (failure !== undefined) {
    await events.return?.()
    return json({ jsonrpc: '2.0', id: message.id, error: failure }, 200, headers)
  }
  const files = { read: fileReader(services.sessions, handle.sessionId), most: fileBytes }
  const options = { runId: handle.runId, logger: services.logger, first, files }
  return sse(toFrames(dialectProjection(message.markData), events, options), headers)
}

/** Waits for the first output of the run: a failure before it becomes a plain error instead of a stream. */
async function firstBatch(events: AsyncIterator<Batch>, runId: string): Promise<Batch> {
  for (let next = await events.next(); !next.done; next = await events.next()) {
    if (hasBegun(next.value)) return next.value
  }
  throw new AppError('run_failed', 'The run ended without an answer.', { runId })
}

async function start(
  services: A2AServices,
  request: HttpRequest,
  message: SendRequest,
  mode: StartRun['mode'],
): Promise<RunHandle> {
  const { agentId } = message
  if (services.registry.find(agentId) === undefined) throw agentNotFound(agentId)
  try {
    const handle = await services.runs.start({
      entityId: agentId,
      parts: message.parts,
      messageId: message.messageId,
      sessionId: message.contextId,
      unknownSession: 'create',
      mode,
      onDisconnect: message.onDisconnect,
      metadata: toHopsMetadata(request.headers[hopsHeader]),
      signal: request.signal,
      idempotency: idempotencyOf('a2a', request, message),
    })
    request.body.release?.()
    return handle
  } catch (error) {
    // It may have been removed between the two look-ups.
    throw isAppError(error) && error.code === 'agent_not_found' ? agentNotFound(agentId) : aboutParams(error)
  }
}

function agentNotFound(agentId: string): RpcError {
  return new RpcError(rpcCodes.invalidParams, `agent not found: ${agentId}`)
}

function runHeaders(runId: string, sessionId: string): Record<string, string> {
  return { 'X-Run-Id': runId, 'X-Session-Id': sessionId }
}

async function report(servicesOf: ServicesOf, error: unknown, request: HttpRequest): Promise<void> {
  try {
    const { logger } = await servicesOf(request)
    logger[logLevelOf(error)]({ err: error, request_id: request.requestId }, 'an A2A request failed')
  } catch {
    // The services could not be opened; the caller gets that error.
  }
}

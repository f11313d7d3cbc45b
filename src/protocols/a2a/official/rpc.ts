import { logLevelOf } from '../../../core/error.ts'
import { encodeData } from '../../../core/sse.ts'
import { isMalformedJson } from '../../../http/body/json-guard.ts'
import { json, type Reply, sse } from '../../../http/reply.ts'
import type { HttpRequest } from '../../../http/request.ts'
import type { RpcId } from '../error.ts'
import { A2AError, isOurFault, rpcError, rpcErrorReply } from './error.ts'
import { listTasks } from './list.ts'
import {
  type Call,
  cancelTask,
  getTask,
  sendMessage,
  streamMessage,
  subscribeToTask,
  type TaskStream,
} from './operations.ts'
import { createPush, deletePush, getPush, listPush } from './push.ts'
import { isFields } from './read.ts'
import type { Task } from './shapes.ts'
import type { Writer } from './stream.ts'
import { toTask03, toUpdate03 } from './version03.ts'
import { namedVersion, type Version } from './versions.ts'

type Method =
  | { kind: 'task'; run: (call: Call) => Promise<Task>; wrapped?: true }
  | { kind: 'object'; run: (call: Call) => Promise<object | null> }
  /** `always`: its errors are a stream too, as the clients of 0.3 expect. */
  | { kind: 'stream'; run: (call: Call, writer: Writer) => Promise<TaskStream>; always?: true }

const noExtendedCard: Method = {
  kind: 'object',
  run: () => Promise.reject(new A2AError('UNSUPPORTED_OPERATION', 'The agents have no extended card.')),
}

const methods: Record<Version, Readonly<Record<string, Method>>> = {
  '1.0': {
    SendMessage: { kind: 'task', run: sendMessage, wrapped: true },
    SendStreamingMessage: { kind: 'stream', run: streamMessage },
    GetTask: { kind: 'task', run: getTask },
    ListTasks: { kind: 'object', run: listTasks },
    CancelTask: { kind: 'task', run: cancelTask },
    SubscribeToTask: { kind: 'stream', run: subscribeToTask },
    GetExtendedAgentCard: noExtendedCard,
    CreateTaskPushNotificationConfig: { kind: 'object', run: createPush },
    GetTaskPushNotificationConfig: { kind: 'object', run: getPush },
    ListTaskPushNotificationConfigs: { kind: 'object', run: listPush },
    DeleteTaskPushNotificationConfig: { kind: 'object', run: deletePush },
  },
  '0.3': {
    'message/send': { kind: 'task', run: sendMessage },
    'message/stream': { kind: 'stream', run: streamMessage },
    'tasks/get': { kind: 'task', run: getTask },
    'tasks/cancel': { kind: 'task', run: cancelTask },
    'tasks/resubscribe': { kind: 'stream', run: subscribeToTask, always: true },
    'agent/getAuthenticatedExtendedCard': noExtendedCard,
    'tasks/pushNotificationConfig/set': { kind: 'object', run: createPush },
    'tasks/pushNotificationConfig/get': { kind: 'object', run: getPush },
    'tasks/pushNotificationConfig/list': { kind: 'object', run: listPush },
    'tasks/pushNotificationConfig/delete': { kind: 'object', run: deletePush },
  },
}

const maxIdLength = 1_024

export type CallOf = (request: HttpRequest, params: Call['params'], version: Version) => Promise<Call>

/** What answers a request of JSON-RPC; it never throws. */
export function createRpc(callOf: CallOf, simplePath: string) {
  return async (request: HttpRequest): Promise<Reply> => {
    const about: { id: RpcId; isStream: boolean } = { id: null, isStream: false }
    try {
      const { id, name, params } = readEnvelope(await readBody(request), about)
      const version = namedVersion(request) ?? (name.includes('/') || !/^[A-Z]/.test(name) ? '0.3' : '1.0')
      const method = methodOf(version, name, simplePath)
      about.isStream = method.kind === 'stream' && method.always === true
      const call = await callOf(request, params, version)
      if (method.kind === 'stream') return streamReply(await method.run(call, rpcWriter(version, id)))
      const result = await resultOf(method, version, call)
      return json({ jsonrpc: '2.0', id, result })
    } catch (error) {
      if (isOurFault(error)) await report(callOf, error, request)
      if (!about.isStream) return rpcErrorReply(error, about.id)
      return errorStream(encodeData(rpcError(error, about.id)))
    }
  }
}

async function readBody(request: HttpRequest): Promise<unknown> {
  try {
    return await request.body.json()
  } catch (error) {
    if (isMalformedJson(error)) throw new A2AError('PARSE_ERROR', 'The body is not valid JSON.')
    throw error
  }
}

function readEnvelope(body: unknown, about: { id: RpcId }) {
  if (body === undefined) throw new A2AError('PARSE_ERROR', 'The request has no body.')
  if (!isFields(body)) {
    const batch = Array.isArray(body) ? ' Batches are not supported.' : ''
    throw new A2AError('INVALID_REQUEST', `The body must be a JSON object.${batch}`)
  }
  const { jsonrpc, id = null, method: name, params = {} } = body
  if (id !== null && typeof id !== 'string' && typeof id !== 'number') {
    throw new A2AError('INVALID_REQUEST', 'id must be a text, a number or null.')
  }
  // Each frame of a stream has it.
  if (typeof id === 'string' && id.length > maxIdLength) {
    throw new A2AError('INVALID_REQUEST', `id must have at most ${maxIdLength} characters.`)
  }
  about.id = id
  if (jsonrpc !== '2.0') throw new A2AError('INVALID_REQUEST', "jsonrpc must be '2.0'.")
  if (typeof name !== 'string' || name === '') throw new A2AError('INVALID_REQUEST', 'method must be a text.')
  if (!isFields(params)) throw new A2AError('INVALID_PARAMS', 'params must be an object.')
  return { id, name, params }
}

function methodOf(version: Version, name: string, simplePath: string): Method {
  const known = methods[version]
  const method = Object.hasOwn(known, name) ? known[name] : undefined
  if (method !== undefined) return method
  const isSimple = name === 'sendMessage' || name === 'streamMessage'
  const hint = isSimple ? ` Send it to ${simplePath}/${name}.` : ''
  throw new A2AError('METHOD_NOT_FOUND', `A2A ${version} has no such method here.${hint}`)
}

async function resultOf(method: Exclude<Method, { kind: 'stream' }>, version: Version, call: Call): Promise<unknown> {
  if (method.kind === 'object') return method.run(call)
  const task = await method.run(call)
  if (version === '0.3') return toTask03(task)
  return method.wrapped === true ? { task } : task
}

export function rpcWriter(version: Version, id: RpcId): Writer {
  return {
    update: (update) => encodeData({ jsonrpc: '2.0', id, result: version === '0.3' ? toUpdate03(update) : update }),
    error: (error) => encodeData(rpcError(error, id)),
  }
}

export function streamReply({ runId, sessionId, frames }: TaskStream): Reply {
  return sse(frames, { 'X-Run-Id': runId, 'X-Session-Id': sessionId })
}

function errorStream(frame: string): Reply {
  return sse(
    (async function* () {
      yield frame
    })(),
  )
}

export async function report(callOf: CallOf, error: unknown, request: HttpRequest): Promise<void> {
  try {
    const { services } = await callOf(request, {}, '1.0')
    services.logger[logLevelOf(error)]({ err: error, request_id: request.requestId }, 'an A2A request failed')
  } catch {
    // The services could not be opened; the caller gets that error.
  }
}

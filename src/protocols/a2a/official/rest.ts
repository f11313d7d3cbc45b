import { encodeData, encodeEvent } from '../../../core/sse.ts'
import { isMalformedJson } from '../../../http/body/json-guard.ts'
import { json, type Reply } from '../../../http/reply.ts'
import type { HttpRequest } from '../../../http/request.ts'
import { A2AError, isOurFault, restError, restErrorReply, restType } from './error.ts'
import { listTasks } from './list.ts'
import { type Call, cancelTask, getTask, sendMessage, streamMessage, subscribeToTask } from './operations.ts'
import { createPush, deletePush, getPush, listPush } from './push.ts'
import { type Fields, isFields } from './read.ts'
import { type CallOf, report, streamReply } from './rpc.ts'
import type { Writer } from './stream.ts'
import { namedVersion } from './versions.ts'

/* HTTP+JSON of A2A 1.0. */

type Answer = (call: Call) => Promise<Reply>

const writer: Writer = {
  update: (update) => encodeData(update),
  error: (error) => encodeEvent({ event: 'error', data: restError(error) }),
}

function object(run: (call: Call) => Promise<object>): Answer {
  return async (call) => json(await run(call), 200, { 'Content-Type': restType })
}

const answers = {
  send: object(async (call) => ({ task: await sendMessage(call) })),
  stream: async (call) => streamReply(await streamMessage(call, writer)),
  get: object(getTask),
  list: object(listTasks),
  cancel: object(cancelTask),
  subscribe: async (call) => streamReply(await subscribeToTask(call, writer)),
  createPush: object(createPush),
  listPush: object(listPush),
  getPush: object(getPush),
  deletePush: object(async (call) => (await deletePush(call)) ?? {}),
  extendedCard: object(() =>
    Promise.reject(new A2AError('UNSUPPORTED_OPERATION', 'The agents have no extended card.')),
  ),
} satisfies Record<string, Answer>

export type RestOperation = keyof typeof answers

/** `POST …/tasks/{id}:cancel` and `…:subscribe`: the router gives the last segment as a whole. */
export function taskOperation(request: HttpRequest): { operation: RestOperation; params: Fields } {
  const given = request.params.task ?? ''
  const [, id = given, verb] = /^(.*):(cancel|subscribe)$/s.exec(given) ?? []
  if (verb === 'subscribe') return { operation: 'subscribe', params: { id } }
  if (request.method === 'POST' && verb === 'cancel') return { operation: 'cancel', params: { id } }
  if (request.method !== 'POST') return { operation: 'get', params: { id: given } }
  throw new A2AError('METHOD_NOT_FOUND', 'POST is for a task with :cancel or :subscribe.')
}

/** `…/tasks/{id}/pushNotificationConfigs`, and one of them. */
export function pushOperation({ method, params }: HttpRequest): { operation: RestOperation; params: Fields } {
  const { task: taskId, config: id } = params
  if (id !== undefined) return { operation: method === 'DELETE' ? 'deletePush' : 'getPush', params: { taskId, id } }
  return { operation: method === 'POST' ? 'createPush' : 'listPush', params: { taskId } }
}

export function createRest(
  callOf: CallOf,
  operationOf: (request: HttpRequest) => { operation: RestOperation; params?: Fields },
) {
  return async (request: HttpRequest): Promise<Reply> => {
    try {
      const { operation, params } = operationOf(request)
      if ((namedVersion(request) ?? '1.0') !== '1.0') {
        throw new A2AError('VERSION_NOT_SUPPORTED', 'A2A 0.3 is served over JSON-RPC only.')
      }
      const given = await readParams(request)
      return await answers[operation](await callOf(request, { ...given, ...params }, '1.0'))
    } catch (error) {
      if (isOurFault(error)) await report(callOf, error, request)
      return restErrorReply(error)
    }
  }
}

async function readParams(request: HttpRequest): Promise<Fields> {
  if (request.method === 'GET' || request.method === 'DELETE') return Object.fromEntries(request.query)
  try {
    const body = (await request.body.json()) ?? {}
    if (isFields(body)) return body
  } catch (error) {
    if (isMalformedJson(error)) throw new A2AError('PARSE_ERROR', 'The body is not valid JSON.')
    throw error
  }
  throw new A2AError('INVALID_REQUEST', 'The body must be a JSON object.')
}

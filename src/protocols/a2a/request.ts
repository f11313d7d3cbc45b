import { isSessionId } from '../../core/id.ts'
import type { GivenPart } from '../../core/message.ts'
import type { OnDisconnect } from '../../service/services.ts'
import type { A2AMethod } from '../../wire/protocols/a2a.ts'
import { RpcError, type RpcId, rpcCodes } from './error.ts'
import { readPart } from './message.ts'

export interface SendRequest {
  id: string
  messageId: string
  agentId: string
  /** Undefined: a new session. */
  contextId: string | undefined
  parts: GivenPart[]
  onDisconnect: OnDisconnect | undefined
  /** Whether the stream tells data from text. */
  markData: boolean
}

/** The id to echo, even if the rest of the body is invalid. */
export function readId(body: unknown): RpcId {
  const id = isObject(body) ? body.id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/**
 * Checks a body in the specification's order (section 4) and wording (section 7) and stops at the first failure, an
 * RpcError. A required field that is missing or of the wrong type counts as empty; unknown fields are ignored.
 */
export function readRequest(body: unknown, method: A2AMethod): SendRequest {
  if (!isObject(body)) throw refuseBody(body)
  if (body.jsonrpc !== '2.0') throw new RpcError(rpcCodes.invalidRequest, 'invalid jsonrpc version, must be 2.0')
  if (body.method !== method) throw refuseMethod(body.method, method)
  const id = body.id
  if (!isText(id)) throw new RpcError(rpcCodes.invalidRequest, 'request id is required')

  const params = body.params
  const message = isObject(params) ? params.message : undefined
  if (!isObject(params) || !isObject(message)) throw invalidParams('invalid message format: messageId is required')
  const { messageId, agentId } = message
  if (!isText(messageId)) throw invalidParams('messageId is required')
  if (!isText(message.role)) throw invalidParams('role is required')
  if (!isText(agentId)) throw invalidParams('agentId is required')
  const parts = readParts(message.parts)
  const contextId = readContextId(message.contextId)
  const onDisconnect = readOnDisconnect(params.onDisconnect)
  return { id, messageId, agentId, contextId, parts, onDisconnect, markData: params.markData === true }
}

function readParts(value: unknown): GivenPart[] {
  if (!Array.isArray(value) || value.length === 0) throw invalidParams('message must have at least one part')
  const parts: GivenPart[] = []
  for (let index = 0; index < value.length; index++) {
    const part = readPart(value[index])
    if (typeof part === 'string') throw invalidParams(`invalid part at index ${index}: ${part}`)
    parts.push(part)
  }
  return parts
}

/** A value that can't be a session id is refused: treating it as absent would lose the conversation. */
function readContextId(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (isSessionId(value)) return value
  throw invalidParams('contextId must be 1 to 128 of A-Z a-z 0-9 . _ : -')
}

function readOnDisconnect(value: unknown): OnDisconnect | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (value === 'cancel' || value === 'continue') return value
  throw invalidParams('onDisconnect must be cancel or continue')
}

function refuseBody(body: unknown): RpcError {
  if (body === undefined) return new RpcError(rpcCodes.parseError, 'parse error: the request has no body')
  const batch = Array.isArray(body) ? '; batches are not supported' : ''
  return new RpcError(rpcCodes.invalidRequest, `invalid request: the body must be a JSON object${batch}`)
}

function refuseMethod(found: unknown, method: A2AMethod): RpcError {
  const known = found === 'sendMessage' || found === 'streamMessage'
  const text = known
    ? `invalid method, must be ${method} on this path`
    : 'invalid method, must be sendMessage or streamMessage'
  return new RpcError(rpcCodes.methodNotFound, text)
}

function invalidParams(message: string): RpcError {
  return new RpcError(rpcCodes.invalidParams, message)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

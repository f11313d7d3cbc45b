import { hash } from 'node:crypto'
import type { GivenPart } from '../../core/message.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { Idempotency } from '../../service/services.ts'
import { RpcError, rpcCodes } from './error.ts'

const visible = /^[\x21-\x7e]{1,255}$/

export interface KeyedMessage {
  agentId: string
  messageId: string
  contextId: string | undefined
  parts: readonly GivenPart[]
}

/**
 * A message is its own idempotency key, per caller, user, agent and context, for all methods of a dialect. An `Idempotency-Key`
 * header overrides it: then another messageId is still the same request.
 */
export function idempotencyOf(dialect: 'a2a' | 'a2a task', request: HttpRequest, message: KeyedMessage): Idempotency {
  const { agentId, messageId, contextId = '' } = message
  const caller = `${request.caller} ${request.userId ?? ''}`
  const target = `${contextId} ${agentId.length} ${agentId}`
  const header = request.headers['idempotency-key']
  if (header !== undefined) {
    if (typeof header !== 'string' || !visible.test(header)) throw invalidKey()
    const text = `${target} ${JSON.stringify(message.parts)}`
    return { key: `${dialect} key ${caller} ${header}`, hash: digest(text), whileRunning: 'conflict' }
  }
  const key = `${dialect} message ${caller} ${target} ${bounded(messageId)}`
  return { key, hash: digest(JSON.stringify(message.parts)), whileRunning: 'join' }
}

function invalidKey(): RpcError {
  const message = 'invalid request: Idempotency-Key must be 1 to 255 visible ASCII characters'
  return new RpcError(rpcCodes.invalidRequest, message)
}

/** As a database can store it: half a character would become another one there, and NUL is refused. */
function bounded(text: string): string {
  const isPlain = text.length <= 128 && text.isWellFormed() && !text.includes('\0')
  return isPlain ? text : digest(text.length <= 128 ? JSON.stringify(text) : text)
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

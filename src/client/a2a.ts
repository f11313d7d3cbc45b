import { randomUUID } from 'node:crypto'
import { AppError, type ErrorCode } from '../core/error.ts'
import type { A2AMessage, A2AMethod, A2APart, A2ARequest, A2AResponse, A2AStreamEvent, A2ATask } from '../wire/a2a.ts'
import type { CallOptions, Connection, OpenAnswer } from './connection.ts'
import { parseEvent, readStream } from './stream.ts'

export interface A2AInput {
  agentId: string
  /** Text, or parts. */
  content: string | A2APart[]
  /** The session; none means a new one. */
  contextId?: string | undefined
  /** The same one again gives the same task; default: a new one. */
  messageId?: string | undefined
  onDisconnect?: 'cancel' | 'continue' | undefined
}

/** `content` events, an `error` when the run failed, and `done`. */
export interface A2AStream extends AsyncIterable<A2AStreamEvent> {
  /** From the headers; undefined when the server is not one of ours. */
  readonly runId: string | undefined
  readonly sessionId: string | undefined
}

export interface A2ACallOptions extends CallOptions {
  headers?: Record<string, string> | undefined
}

export interface A2AClient {
  /** Waits for the task, which may have `failed`. An error of the protocol throws. */
  send(input: A2AInput, options?: A2ACallOptions): Promise<A2ATask>
  /** Throws when the server refuses; a failure later is an event. A cut throws `unavailable`. */
  stream(input: A2AInput, options?: A2ACallOptions): Promise<A2AStream>
}

export function createA2AClient(connection: Connection, prefix: string, silenceMs: number): A2AClient {
  const call = (method: A2AMethod, input: A2AInput, options: A2ACallOptions | undefined) =>
    ({
      signal: options?.signal,
      timeoutMs: options?.timeoutMs,
      headers: options?.headers ?? {},
      method: 'POST',
      path: `${prefix}/${method}`,
      body: toRequest(method, input),
      // The messageId makes a second try the same request.
      repeat: 'safe',
      long: true,
    }) as const

  return {
    async send(input, options) {
      const response = await connection.json<A2AResponse>(call('sendMessage', input, options))
      if ('result' in response) return response.result.task
      throw toRpcError(response, connection.name)
    },
    async stream(input, options) {
      const headers = { ...options?.headers, accept: 'text/event-stream' }
      const answer = await connection.open({ ...call('streamMessage', input, options), headers })
      if (!answer.headers['content-type']?.startsWith('text/event-stream')) {
        throw toRpcError(await readJson(answer), connection.name)
      }
      return {
        runId: answer.headers['x-run-id'],
        sessionId: answer.headers['x-session-id'],
        [Symbol.asyncIterator]: () => readEvents(answer, silenceMs, connection.name),
      }
    },
  }
}

async function* readEvents(answer: OpenAnswer, silenceMs: number, name: string): AsyncGenerator<A2AStreamEvent> {
  for await (const message of readStream(answer, silenceMs, name)) {
    const event = parseEvent<A2AStreamEvent>(message, name)
    yield event
    if (event.type === 'done') return
  }
  throw new AppError('unavailable', `The stream from ${name} ended before it was done.`)
}

function toRequest(method: A2AMethod, input: A2AInput): A2ARequest {
  const { agentId, content, contextId, messageId = randomUUID(), onDisconnect } = input
  const parts: A2APart[] = typeof content === 'string' ? [{ type: 'text', content }] : content
  const message: A2AMessage = { messageId, role: 'user', agentId, parts }
  if (contextId !== undefined) message.contextId = contextId
  const params = onDisconnect === undefined ? { message } : { message, onDisconnect }
  return { jsonrpc: '2.0', method, id: messageId, params }
}

async function readJson(answer: OpenAnswer): Promise<unknown> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of answer.body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > maxErrorChars) break
  }
  answer.end()
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const maxErrorChars = 1024 * 1024

const codes: Record<number, ErrorCode> = {
  [-32700]: 'invalid_request',
  [-32600]: 'invalid_request',
  [-32601]: 'invalid_request',
  [-32602]: 'invalid_request',
}

/** A JSON-RPC error in our words. That an agent is unknown is in the message alone. */
export function toRpcError(response: unknown, name: string): AppError {
  const error = response !== null && typeof response === 'object' && 'error' in response ? response.error : undefined
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error)) {
    return new AppError('internal', `${name} answered something that is not A2A.`)
  }
  const message = String(error.message)
  if (message.startsWith('agent not found')) return new AppError('agent_not_found', message)
  return new AppError(codes[Number(error.code)] ?? 'run_failed', message)
}

import type {
  A2AMessage,
  A2AMethod,
  A2AParams,
  A2APart,
  A2ARequest,
  A2AStreamEvent,
  A2ASuccess,
  A2ATask,
} from '../wire/protocols/a2a.ts'
import { followTask } from './a2a-stream.ts'
import { rpcRefusalOf } from './transport/a2a-error.ts'
import type { CallOptions, Connection } from './transport/connection.ts'
import { parse } from './transport/json.ts'
import { newKey } from './transport/key.ts'
import { defaultReconnects } from './transport/stream.ts'

export interface A2AInput {
  agentId: string
  /** Text, or parts. */
  content: string | A2APart[]
  /** The session id. Default: a new session. */
  contextId?: string | undefined
  /** A retry with the same id returns the same task. Default: a new id. */
  messageId?: string | undefined
  /** With `continue`, the run survives a disconnect, and a cut stream reconnects. Default: `cancel`. */
  onDisconnect?: 'cancel' | 'continue' | undefined
  /** Whether `content` events of data have `part: 'data'`. A server that is not an agentserve ignores it. */
  markData?: boolean | undefined
}

/** `content` events, an `error` event if the run failed, then `done`. */
export interface A2AStream extends AsyncIterable<A2AStreamEvent> {
  /** From the headers. Undefined if the server is not an agentserve. */
  readonly runId: string | undefined
  readonly sessionId: string | undefined
}

export interface A2ACallOptions extends CallOptions {
  headers?: Record<string, string> | undefined
}

export interface A2AStreamOptions extends A2ACallOptions {
  /** Maximum number of reconnects in a row after the stream was cut. Default: 5. */
  reconnects?: number | undefined
}

/** Calls agents, teams and workflows of any server that speaks the A2A dialect. */
export interface A2AClient {
  /** Waits for the task, which may be `failed`. Protocol errors are thrown. */
  send(input: A2AInput, options?: A2ACallOptions): Promise<A2ATask>
  /**
   * Streams the reply. Throws if the server refuses the message; a later failure is an event. A run with `continue` is
   * followed across reconnects, without missing or repeated text, and leaving the loop does not end it. Any other run ends
   * with the connection, and a lost connection throws `unavailable`.
   */
  stream(input: A2AInput, options?: A2AStreamOptions): Promise<A2AStream>
}

export function createA2AClient(connection: Connection, prefix: string): A2AClient {
  const { name } = connection
  const toCall = (method: A2AMethod, input: A2AInput, options: A2ACallOptions | undefined) =>
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
      refusal: rpcRefusalOf,
    }) as const

  return {
    async send(input, options) {
      const { text } = await connection.whole(toCall('sendMessage', input, options))
      return parse<A2ASuccess>(text(), name).result.task
    },
    async stream(input, options) {
      const call = toCall('streamMessage', input, options)
      const answer = await connection.open(call)
      const runId = answer.headers['x-run-id']
      const continues = input.onDisconnect === 'continue' && runId !== undefined
      const events = followTask({
        answer,
        runId,
        reconnects: continues ? (options?.reconnects ?? defaultReconnects) : 0,
        signal: options?.signal,
        reopen: () => connection.open(call),
        connection,
      })
      return { runId, sessionId: answer.headers['x-session-id'], [Symbol.asyncIterator]: () => events }
    },
  }
}

function toRequest(method: A2AMethod, input: A2AInput): A2ARequest {
  const { agentId, content, contextId, messageId = newKey(), onDisconnect, markData } = input
  const parts: A2APart[] = typeof content === 'string' ? [{ type: 'text', content }] : content
  const message: A2AMessage = { messageId, role: 'user', agentId, parts }
  if (contextId !== undefined) message.contextId = contextId
  const params: A2AParams = { message }
  if (onDisconnect !== undefined) params.onDisconnect = onDisconnect
  if (markData !== undefined) params.markData = markData
  return { jsonrpc: '2.0', method, id: messageId, params }
}

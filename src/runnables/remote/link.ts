import type { Json, JsonObject } from '../../core/json.ts'
import { isObject } from '../../schema/field.ts'
import type { Dialect, PeerInterface } from './card.ts'
import { PeerError, type PeerHttp, type PeerRequest } from './http.ts'
import { type PeerEvent, type PeerPart, readEvent } from './objects.ts'

/** What is said to the peer. */
export interface OwnMessage {
  messageId: string
  contextId?: string | undefined
  taskId?: string | undefined
  parts: readonly PeerPart[]
}

interface Operation {
  rpc: string
  oldRpc: string
  method: 'GET' | 'POST'
  path(taskId: string): string
}

const operations = {
  send: { rpc: 'SendMessage', oldRpc: 'message/send', method: 'POST', path: () => '/message:send' },
  stream: { rpc: 'SendStreamingMessage', oldRpc: 'message/stream', method: 'POST', path: () => '/message:stream' },
  get: { rpc: 'GetTask', oldRpc: 'tasks/get', method: 'GET', path: (id) => `/tasks/${id}` },
  cancel: { rpc: 'CancelTask', oldRpc: 'tasks/cancel', method: 'POST', path: (id) => `/tasks/${id}:cancel` },
  subscribe: {
    rpc: 'SubscribeToTask',
    oldRpc: 'tasks/resubscribe',
    method: 'POST',
    path: (id) => `/tasks/${id}:subscribe`,
  },
} as const satisfies Record<string, Operation>

const versions: Readonly<Record<Dialect, string>> = {
  'JSONRPC 1.0': '1.0',
  'HTTP+JSON 1.0': '1.0',
  'JSONRPC 0.3': '0.3',
}

/** Until an operation that starts nothing answers. */
const quickMs = 30_000
const cancelMs = 10_000

export interface LinkOptions {
  http: PeerHttp
  headers: Record<string, string>
  signal: AbortSignal
  /** Until an answer begins. */
  timeoutMs: number
}

/** The operations of one peer, over one of its interfaces. */
export class Link {
  readonly interface: PeerInterface
  readonly #options: LinkOptions

  constructor(chosen: PeerInterface, options: LinkOptions) {
    this.interface = chosen
    this.#options = options
  }

  stream(message: OwnMessage): Promise<AsyncIterable<PeerEvent>> {
    return this.#events('stream', this.#params(message))
  }

  /** `waits`: for the end of the task or its pause; else the server answers at once, if it can. */
  async send(message: OwnMessage, waits: boolean): Promise<PeerEvent> {
    const { dialect } = this.interface
    const configuration = dialect === 'JSONRPC 0.3' ? { blocking: waits } : { returnImmediately: !waits }
    return readEvent(await this.#value('send', { ...this.#params(message), configuration }))
  }

  async get(taskId: string): Promise<PeerEvent> {
    return readEvent(await this.#value('get', { id: taskId }))
  }

  subscribe(taskId: string): Promise<AsyncIterable<PeerEvent>> {
    return this.#events('subscribe', { id: taskId })
  }

  /** Not ended by the run that it is for. */
  async cancel(taskId: string): Promise<void> {
    await this.#value('cancel', { id: taskId }, { signal: undefined, timeoutMs: cancelMs })
  }

  async #value(name: keyof typeof operations, params: JsonObject, more: Partial<PeerRequest> = {}): Promise<unknown> {
    const { http } = this.#options
    const answer = await http.json({ ...this.#request(name, params), ...more })
    return this.#isRpc ? http.resultOf(answer) : answer
  }

  async #events(name: 'stream' | 'subscribe', params: JsonObject): Promise<AsyncIterable<PeerEvent>> {
    const { http } = this.#options
    const unpack = (value: unknown) => (this.#isRpc ? http.resultOf(value) : resultOfFrame(value, http))
    const values = (await http.stream(this.#request(name, params)))[Symbol.asyncIterator]()
    // An error may be told as the first event.
    const first = await values.next()
    if (first.done) return (async function* () {})()
    let event: PeerEvent
    try {
      event = readEvent(unpack(first.value))
    } catch (error) {
      await values.return?.()
      throw error
    }
    return (async function* () {
      try {
        yield event
        for (let next = await values.next(); !next.done; next = await values.next()) yield readEvent(unpack(next.value))
      } finally {
        await values.return?.()
      }
    })()
  }

  get #isRpc(): boolean {
    return this.interface.dialect !== 'HTTP+JSON 1.0'
  }

  #request(name: keyof typeof operations, params: JsonObject): PeerRequest {
    const { headers: own, signal, timeoutMs } = this.#options
    const { dialect, url, tenant } = this.interface
    const headers = { ...own, 'a2a-version': versions[dialect] }
    const { rpc, oldRpc, method, path } = operations[name]
    const isQuick = name !== 'send' && name !== 'stream'
    const common = { headers, signal, timeoutMs: isQuick ? Math.min(timeoutMs, quickMs) : timeoutMs }
    if (this.#isRpc) {
      const whole = tenant === undefined ? params : { tenant, ...params }
      const body = {
        jsonrpc: '2.0',
        id: crypto.randomUUID(),
        method: dialect === 'JSONRPC 0.3' ? oldRpc : rpc,
        params: whole,
      }
      return { ...common, method: 'POST', url, body }
    }
    const { id = '' } = params as { id?: string }
    const address = new URL(url)
    const base = address.pathname.replace(/\/+$/, '') + (tenant === undefined ? '' : `/${encodeURIComponent(tenant)}`)
    address.pathname = base + path(encodeURIComponent(id))
    return { ...common, method, url: address.href, ...(name === 'send' || name === 'stream' ? { body: params } : {}) }
  }

  #params({ messageId, contextId, taskId, parts }: OwnMessage): JsonObject {
    const isOld = this.interface.dialect === 'JSONRPC 0.3'
    const message: JsonObject = {
      ...(isOld && { kind: 'message' }),
      messageId,
      role: isOld ? 'user' : 'ROLE_USER',
      parts: parts.map((part) => (isOld ? toOldPart(part) : toPart(part))),
    }
    if (contextId !== undefined) message.contextId = contextId
    if (taskId !== undefined) message.taskId = taskId
    return { message }
  }
}

/** Over HTTP an error in a stream is an event of its own. */
function resultOfFrame(value: unknown, http: PeerHttp): unknown {
  if (!isObject(value) || !isObject(value.error)) return value
  const { code, message } = value.error
  throw new PeerError(`it answered with the error ${http.plain(String(code))}: ${http.plain(message)}`, { status: 200 })
}

function toPart(part: PeerPart): Json {
  if (part.type === 'text') return { text: part.text }
  if (part.type === 'data') return { data: part.data }
  const { raw, url = '', name, mediaType } = part
  return {
    ...(raw === undefined ? { url } : { raw }),
    ...(name && { filename: name }),
    ...(mediaType && { mediaType }),
  }
}

/** 0.3 has data as objects only. */
function toOldPart(part: PeerPart): Json {
  if (part.type === 'text') return { kind: 'text', text: part.text }
  if (part.type === 'data') {
    if (isObject(part.data)) return { kind: 'data', data: part.data }
    return { kind: 'data', data: { value: part.data }, metadata: { data_part_compat: true } }
  }
  const { raw, url = '', name, mediaType } = part
  const about = { ...(name && { name }), ...(mediaType && { mimeType: mediaType }) }
  return { kind: 'file', file: { ...(raw === undefined ? { uri: url } : { bytes: raw }), ...about } }
}

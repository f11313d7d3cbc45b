import { AppError } from '../../core/error.ts'
import { pause } from '../../runtime/abort.ts'
import { Deadline } from './deadline.ts'
import { type Refusal, refusalOf } from './error.ts'
import { parse } from './json.ts'
import { newKey } from './key.ts'
import { toNetworkError } from './network-error.ts'
import { isAtWork, mayRepeat, type Repeat, waitMsBefore } from './retry.ts'
import type { ClientRequest, ClientResponse, Transport } from './transport.ts'

const maxAnswerBytes = 64 * 1024 * 1024
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Time limit for the whole answer including retries; for a stream, until it begins. */
  timeoutMs?: number | undefined
}

export interface PageOptions extends CallOptions {
  /** 1–100, default 20. */
  limit?: number | undefined
  /** `next_cursor` of the preceding page. */
  cursor?: string | undefined
}

/** Options of calls that change data and can be retried, because they have an `Idempotency-Key`. */
export interface KeyedOptions extends CallOptions {
  /** Another call with the same key and body returns the first answer, for 24 hours. Default: a new key per call. */
  idempotencyKey?: string | undefined
}

export interface Call extends KeyedOptions {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  query?: Record<string, string | number | boolean | undefined> | undefined
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is. */
  raw?: { bytes: Uint8Array; mediaType: string }
  headers?: Record<string, string>
  repeat: Repeat
  /** The call waits for a model or an index, so it has no time limit except one given for this call. */
  long?: boolean
  /** Finds the error in an answer. Default: `refusalOf`. */
  refusal?: Refusal
}

export interface ConnectionOptions {
  transport: Transport
  /** The name of the server in error messages. */
  name: string
  key: string | undefined
  /** Sent with every request. */
  headers: Record<string, string> | undefined
  timeoutMs: number
  /** After so long without data a stream counts as cut. */
  silenceMs: number
  retries: number
}

/** A successful answer with all of its body. */
export interface WholeAnswer {
  bytes: Uint8Array
  text(): string
  headers: Record<string, string>
}

/** An answer whose body is not read yet. `end` releases it. */
export interface OpenAnswer extends ClientResponse {
  end(): void
}

/** Sends requests to one server, retries them if that is safe, and turns failures into AppErrors. */
export class Connection {
  readonly name: string
  readonly silenceMs: number
  readonly #options: ConnectionOptions
  readonly #open = new Set<Deadline>()
  #closed: AppError | undefined

  constructor(options: ConnectionOptions) {
    this.name = options.name
    this.silenceMs = options.silenceMs
    this.#options = options
  }

  /** The JSON object of a successful answer. */
  async json<T>(call: Call): Promise<T> {
    return parse((await this.whole(call)).text(), this.name)
  }

  get<T>(path: string, options?: CallOptions, query?: Call['query']): Promise<T> {
    return this.json({ ...options, method: 'GET', path, query, repeat: 'safe' })
  }

  /** One page of a list. */
  list<T>(path: string, filter: object | undefined, { limit, cursor, ...options }: PageOptions = {}): Promise<T> {
    return this.get(path, options, { ...filter, limit, cursor })
  }

  /** `options` may have more of the call, such as `long`. */
  post<T>(path: string, body: unknown, repeat: Repeat, options?: Partial<Call>): Promise<T> {
    return this.json({ ...options, method: 'POST', path, body, repeat })
  }

  delete<T>(path: string, options: CallOptions | undefined, repeat: Repeat = 'never'): Promise<T> {
    return this.json({ ...options, method: 'DELETE', path, repeat })
  }

  /** A POST with a key, so that it can be retried; `call` has its `body` or `raw`. */
  send<T>(path: string, call: Partial<Call>): Promise<T> {
    return this.json({ ...call, method: 'POST', path, repeat: 'keyed' })
  }

  /** Waits for an earlier request with the same key that is still in progress. */
  async whole(call: Call): Promise<WholeAnswer> {
    return this.#limited(call, async (limit) => {
      const answer = await this.#repeating(call, limit, true, async (request) => {
        const response = await this.#options.transport(request)
        const [whole, refusal] = await this.#read(call, response)
        if (refusal !== undefined) throw refusal
        return whole
      })
      limit.release()
      return answer
    })
  }

  /** Opens a stream (of events by default). The caller must read its body and end it. */
  async open(call: Call, mediaType = 'text/event-stream'): Promise<OpenAnswer> {
    return this.#limited(call, async (limit) => {
      const streamed = { ...call, headers: { ...call.headers, accept: mediaType } }
      const answer = await this.#repeating(streamed, limit, false, async (request) => {
        const response = await this.#options.transport(request)
        if (response.status < 300 && hasType(response, mediaType)) return response
        const [, refusal] = await this.#read(call, response)
        throw refusal ?? notAStream(response, this.name)
      })
      limit.stopClock()
      return { ...answer, end: () => limit.end() }
    })
  }

  async #read(call: Call, response: ClientResponse): Promise<[WholeAnswer, AppError | undefined]> {
    const bytes = await readBytes(response.body, this.name)
    const text = () => utf8.decode(bytes)
    const { headers } = response
    return [{ bytes, text, headers }, (call.refusal ?? refusalOf)(response, text, this.name)]
  }

  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  /** Aborts open requests. */
  close(): void {
    this.#closed = new AppError('unavailable', 'The client has been closed.')
    for (const limit of this.#open) limit.end(this.#closed)
  }

  async #limited<T>(call: Call, work: (limit: Deadline) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw this.#closed
    const timeoutMs = call.timeoutMs ?? (call.long ? undefined : this.#options.timeoutMs)
    const limit = new Deadline({ signal: call.signal, timeoutMs, name: this.name }, (ended) => this.#open.delete(ended))
    this.#open.add(limit)
    try {
      return await work(limit)
    } catch (error) {
      limit.end()
      throw error
    }
  }

  /** `waits`: wait for an earlier request with the same key, with any number of retries. */
  async #repeating<T>(
    call: Call,
    { signal }: Deadline,
    waits: boolean,
    attempt: (request: ClientRequest) => Promise<T>,
  ): Promise<T> {
    const request = { ...this.#toRequest(call), signal }
    for (let failures = 0; ; ) {
      try {
        signal.throwIfAborted()
        return await attempt(request)
      } catch (error) {
        signal.throwIfAborted()
        const known = toNetworkError(error, this.name)
        const isWaiting = waits && call.repeat === 'keyed' && isAtWork(known)
        const mayTry = isWaiting || (failures < this.#options.retries && mayRepeat(known, call.repeat))
        const waitMs = mayTry ? waitMsBefore(known, failures) : undefined
        if (waitMs === undefined) throw known
        if (!isWaiting) failures++
        await pause(waitMs, signal)
      }
    }
  }

  #toRequest(call: Call): Omit<ClientRequest, 'signal'> {
    const headers: Record<string, string> = {
      ...this.#options.headers,
      accept: 'application/json',
      ...call.headers,
    }
    if (this.#options.key !== undefined) headers.authorization = `Bearer ${this.#options.key}`
    if (call.repeat === 'keyed') headers['idempotency-key'] = call.idempotencyKey ?? newKey()
    const request = { method: call.method, url: call.path + toQuery(call.query), headers }
    if (call.raw !== undefined) {
      headers['content-type'] = call.raw.mediaType
      return { ...request, body: call.raw.bytes }
    }
    if (call.body === undefined) return request
    headers['content-type'] = 'application/json'
    return { ...request, body: JSON.stringify(call.body) }
  }
}

function hasType({ headers }: ClientResponse, mediaType: string): boolean {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() === mediaType
}

function notAStream({ headers }: ClientResponse, name: string): AppError {
  const type = headers['content-type'] ?? 'an answer without a Content-Type'
  return new AppError('internal', `${name} sent ${type} instead of a stream.`)
}

/** The whole body. Throws if it is too large. */
async function readBytes(body: AsyncIterable<Uint8Array>, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxAnswerBytes) {
      throw new AppError('payload_too_large', `${name} sent more than ${maxAnswerBytes} bytes.`)
    }
    chunks.push(chunk)
  }
  const [only] = chunks
  if (only !== undefined && chunks.length === 1) return only
  const bytes = new Uint8Array(size)
  let end = 0
  for (const chunk of chunks) {
    bytes.set(chunk, end)
    end += chunk.byteLength
  }
  return bytes
}

function toQuery(query: Call['query']): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

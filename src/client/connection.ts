import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, isAppError } from '../core/error.ts'
import { toNetworkError, toServerError } from './error.ts'
import type { ClientRequest, ClientResponse, Transport } from './transport.ts'

const maxAnswerBytes = 64 * 1024 * 1024
const firstRetryMs = 100
const longestRetryMs = 5000

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Of the whole answer; for a stream, until it begins. */
  timeoutMs?: number | undefined
}

export interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  query?: Record<string, string | number | boolean | undefined>
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is. */
  raw?: { bytes: Uint8Array; mediaType: string }
  headers?: Record<string, string>
  /** `safe`: twice is once anyway. `keyed`: an Idempotency-Key makes it so. */
  repeat: 'safe' | 'keyed' | 'never'
  /** Waits for a model or an index: no time limit but one given for this call. */
  long?: boolean
}

export interface ConnectionOptions {
  transport: Transport
  /** What errors call the other end. */
  name: string
  key: string | undefined
  /** Sent with every request. */
  headers: Record<string, string> | undefined
  timeoutMs: number
  retries: number
}

/** An answer whose body is still to be read; `end` lets go of it. */
export interface OpenAnswer extends ClientResponse {
  end(): void
}

/** Sends requests to one server, again where that is harmless, and turns what fails into AppErrors. */
export class Connection {
  readonly name: string
  readonly #options: ConnectionOptions

  constructor(options: ConnectionOptions) {
    this.name = options.name
    this.#options = options
  }

  /** The JSON of a successful answer. */
  async json<T>(call: Call): Promise<T> {
    return (await this.answer<T>(call)).value
  }

  async answer<T>(call: Call): Promise<{ value: T; headers: Record<string, string> }> {
    return this.#repeating(call, async (request, limit) => {
      const response = await this.#send(request, limit)
      const text = await readText(response, this.name)
      if (response.status >= 300) throw toServerError(response, text, this.name)
      return { value: parse<T>(text, this.name), headers: response.headers }
    })
  }

  /** The head of a successful answer; its body is the caller's to read and to end. */
  async open(call: Call): Promise<OpenAnswer> {
    return this.#repeating(call, async (request, limit) => {
      const response = await this.#send(request, limit)
      if (response.status >= 300) throw toServerError(response, await readText(response, this.name), this.name)
      return { ...response, end: () => limit.abort() }
    })
  }

  async #repeating<T>(call: Call, attempt: (request: ClientRequest, limit: Limit) => Promise<T>): Promise<T> {
    const request = this.#toRequest(call)
    for (let tries = 0; ; tries++) {
      const limit = new Limit(call, call.timeoutMs ?? (call.long ? undefined : this.#options.timeoutMs), this.name)
      try {
        const result = await attempt({ ...request, signal: limit.signal }, limit)
        limit.stop()
        return result
      } catch (error) {
        limit.stop()
        call.signal?.throwIfAborted()
        const known = limit.expired ?? toNetworkError(error, this.name)
        const again = known.code === 'unavailable' && call.repeat !== 'never' && tries < this.#options.retries
        if (!again) throw known
        await pause(known, tries, call.signal)
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
    if (call.repeat === 'keyed') headers['idempotency-key'] ??= randomUUID()
    const request = { method: call.method, url: call.path + toQuery(call.query), headers }
    if (call.raw !== undefined) {
      headers['content-type'] = call.raw.mediaType
      return { ...request, body: call.raw.bytes }
    }
    if (call.body === undefined) return request
    headers['content-type'] = 'application/json'
    return { ...request, body: JSON.stringify(call.body) }
  }

  async #send(request: ClientRequest, limit: Limit): Promise<ClientResponse> {
    limit.signal.throwIfAborted()
    return this.#options.transport(request)
  }
}

/** The caller's signal and the time limit of one attempt, in one. */
class Limit {
  readonly signal: AbortSignal
  expired: AppError | undefined
  readonly #controller = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(call: CallOptions, timeoutMs: number | undefined, name: string) {
    const own = this.#controller.signal
    this.signal = call.signal === undefined ? own : AbortSignal.any([own, call.signal])
    if (timeoutMs === undefined) return
    this.#timer = setTimeout(() => {
      this.expired = new AppError('timeout', `${name} did not answer within ${timeoutMs} ms.`)
      this.#controller.abort(this.expired)
    }, timeoutMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  abort(): void {
    this.stop()
    this.#controller.abort()
  }
}

async function pause(error: AppError, tries: number, signal: AbortSignal | undefined): Promise<void> {
  const asked = error.retryAfterSeconds === undefined ? 0 : error.retryAfterSeconds * 1000
  const waitMs = Math.min(longestRetryMs, Math.max(asked, firstRetryMs * 3 ** tries))
  try {
    await sleep(waitMs, undefined, signal === undefined ? {} : { signal })
  } catch {
    signal?.throwIfAborted()
  }
}

async function readText(response: ClientResponse, name: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > maxAnswerBytes) {
      throw new AppError('payload_too_large', `${name} answered more than ${maxAnswerBytes} bytes.`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse<T>(text: string, name: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new AppError('internal', `${name} answered something that is not JSON; is it an agentserve?`, { cause })
  }
}

function toQuery(query: Call['query']): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

/** Whether trying again may help: the server could not be reached, or said that it can't now. */
export function isPassing(error: unknown): boolean {
  return isAppError(error) && error.code === 'unavailable'
}

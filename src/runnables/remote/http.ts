import { Deadline } from '../../client/transport/deadline.ts'
import { toRetryAfter } from '../../client/transport/error.ts'
import { toNetworkError } from '../../client/transport/network-error.ts'
import { readStream } from '../../client/transport/stream.ts'
import type { ClientResponse } from '../../client/transport/transport.ts'
import { createUndiciTransport } from '../../client/transport/undici.ts'
import { AppError, isAppError } from '../../core/error.ts'
import { isObject } from '../../schema/field.ts'
import { hideSecrets, plainLine } from '../base/redact.ts'
import { wrongAnswer } from './objects.ts'

const maxAnswerBytes = 16 * 1024 * 1024
const longestMessage = 500
/** A stream without a byte for so long counts as cut. */
const longestSilenceMs = 60_000

export interface PeerRequest {
  method: 'GET' | 'POST'
  url: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Until the answer is there; of a stream, until it begins. */
  timeoutMs: number
  maxBytes?: number
}

/** An error that the peer told. `reason` is the JSON-RPC code, for the HTTP binding too. */
export class PeerError extends AppError {
  readonly status: number
  readonly reason: number | undefined

  constructor(message: string, { status, reason, retryAfterSeconds }: PeerErrorOptions) {
    super('run_failed', message, { retryAfterSeconds })
    this.status = status
    this.reason = reason
  }
}

interface PeerErrorOptions {
  status: number
  reason?: number | undefined
  retryAfterSeconds?: number | undefined
}

/** Sends requests to one peer. Redirects are not followed: they would take the key along. */
export class PeerHttp {
  readonly #headers: Readonly<Record<string, string>>
  readonly #hasKey: boolean
  readonly #transport = createUndiciTransport('')

  constructor({ apiKey, headers = {} }: { apiKey?: string | undefined; headers?: Record<string, string> | undefined }) {
    this.#headers = { ...headers, ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) }
    this.#hasKey = Object.keys(this.#headers).length > 0
  }

  /** Text of a peer for an error: on one line, short, without the secrets that it was sent. */
  plain(text: unknown): string {
    const line = typeof text === 'string' ? plainLine(text) : ''
    return hideSecrets(line, this.#headers).slice(0, longestMessage)
  }

  /** The answer and its status, whatever that is. */
  async text(request: PeerRequest): Promise<{ response: ClientResponse; text: string }> {
    const limit = this.#limit(request)
    try {
      const response = await this.#send(request, 'application/json', limit)
      const text = await readText(response, request.maxBytes)
      return { response, text }
    } catch (error) {
      throw this.#failure(error, request, limit)
    } finally {
      limit.end()
    }
  }

  /** The JSON of a successful answer. */
  async json(request: PeerRequest): Promise<unknown> {
    const { response, text } = await this.text(request)
    return this.#toJson(response, text)
  }

  /** The JSON of the events of a stream; an answer that is no stream is one event. */
  async stream(request: PeerRequest): Promise<AsyncIterable<unknown>> {
    const limit = this.#limit(request)
    try {
      const response = await this.#send(request, 'text/event-stream, application/json', limit)
      if (response.status < 300 && typeOf(response) === 'text/event-stream') {
        limit.stopClock()
        const silenceMs = Math.min(longestSilenceMs, request.timeoutMs)
        return parsed(readStream({ ...response, end: () => limit.end() }, silenceMs, originOf(request)))
      }
      const value = this.#toJson(response, await readText(response, request.maxBytes))
      limit.end()
      return one(value)
    } catch (error) {
      const failure = this.#failure(error, request, limit)
      limit.end()
      throw failure
    }
  }

  #limit({ signal, timeoutMs, ...request }: PeerRequest): Deadline {
    return new Deadline({ signal, timeoutMs, name: originOf(request) }, () => {})
  }

  #send({ method, url, body, headers }: PeerRequest, accept: string, { signal }: Deadline): Promise<ClientResponse> {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    return this.#transport.send({
      method,
      url,
      headers: { ...this.#headers, ...headers, ...type, accept },
      ...content,
      signal,
    })
  }

  #failure(error: unknown, request: PeerRequest, limit: Deadline): unknown {
    request.signal?.throwIfAborted()
    if (limit.signal.aborted && isAppError(limit.signal.reason)) return limit.signal.reason
    return toNetworkError(error, originOf(request))
  }

  #toJson(response: ClientResponse, text: string): unknown {
    if (response.status >= 200 && response.status < 300) {
      if (text === '') return null
      try {
        return JSON.parse(text) as unknown
      } catch {
        throw wrongAnswer('an answer that is not JSON')
      }
    }
    throw this.toError(response, text)
  }

  /** The error of an answer outside 2xx. */
  toError(response: ClientResponse, text: string): PeerError {
    const { status, headers } = response
    const error = errorIn(text)
    const about = { status, reason: reasonOf(error), retryAfterSeconds: toRetryAfter(headers['retry-after']) }
    const said = this.plain(error?.message)
    const more = said === '' ? '' : `: ${said}`
    if (status >= 300 && status < 400) {
      const to = URL.parse(headers.location ?? '')?.origin ?? 'another address'
      return new PeerError(`it redirects to ${to}, which is not followed. Give the final address`, about)
    }
    if (status === 401) {
      if (this.#hasKey) return new PeerError(`it refused the \`apiKey\` or the \`headers\`${more}`, about)
      const challenge = this.plain(headers['www-authenticate'])
      const asked = challenge === '' ? '' : ` (it asks for ${challenge})`
      return new PeerError(`it wants a key: set \`apiKey\` or \`headers\`${asked}${more}`, about)
    }
    if (status === 403) return new PeerError(`it does not allow this with the key that it was sent${more}`, about)
    return new PeerError(`it answered ${status}${more}`, about)
  }

  /** The result in a JSON-RPC answer. Throws the error in it. */
  resultOf(answer: unknown): unknown {
    const { result, error } = isObject(answer) ? answer : {}
    if (isObject(error)) {
      const code = Number.isSafeInteger(error.code) ? Number(error.code) : undefined
      const words = `it answered with the error ${code ?? 'without a code'}: ${this.plain(error.message)}`
      throw new PeerError(words, { status: 200, reason: code })
    }
    if (result === undefined) throw wrongAnswer('an answer that is no JSON-RPC response')
    return result
  }
}

function originOf({ url }: Pick<PeerRequest, 'url'>): string {
  return new URL(url).origin
}

function typeOf({ headers }: ClientResponse): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
}

async function readText({ body }: ClientResponse, maxBytes = maxAnswerBytes): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) throw wrongAnswer(`an answer of more than ${maxBytes / 1024} KB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function* parsed(events: AsyncIterable<{ data: string }>): AsyncGenerator<unknown> {
  for await (const { data } of events) {
    let value: unknown
    try {
      value = JSON.parse(data)
    } catch {
      throw wrongAnswer('an event that is not JSON')
    }
    yield value
  }
}

async function* one(value: unknown): AsyncGenerator<unknown> {
  yield value
}

function errorIn(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) && isObject(body.error) ? body.error : undefined
  } catch {
    return undefined
  }
}

const reasons: Readonly<Record<string, number>> = {
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  UNSUPPORTED_OPERATION: -32004,
  VERSION_NOT_SUPPORTED: -32009,
}

/** Of an error of the HTTP binding, by its `ErrorInfo`; a JSON-RPC error with a real status has its own code. */
function reasonOf(error: Record<string, unknown> | undefined): number | undefined {
  const details = Array.isArray(error?.details) ? error.details : []
  const reason: unknown = details.find((one) => isObject(one) && typeof one.reason === 'string')?.reason
  if (typeof reason === 'string' && Object.hasOwn(reasons, reason)) return reasons[reason]
  const code = error?.code
  return Number.isSafeInteger(code) && Number(code) < 0 ? Number(code) : undefined
}

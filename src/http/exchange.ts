import type { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Scope } from '../core/access/scope.ts'
import { AppError, type ErrorCode } from '../core/error.ts'
import { createId } from '../core/id.ts'
import { type BodySize, RequestBody } from './body/body.ts'
import type { BodyBudget } from './body/budget.ts'
import type { KernelSettings } from './options.ts'
import type { BodyReader, HttpRequest } from './request.ts'
import type { Route } from './router.ts'
import type { AddressOf, IsProxy } from './security/address.ts'

/** The part of node's IncomingMessage that the kernel uses, so that a request needs no socket. */
export interface Incoming extends Readable {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly complete: boolean
  readonly socket:
    | {
        readonly remoteAddress?: string | undefined
        readonly localAddress?: string | undefined
        readonly localPort?: number | undefined
        /** Of a TLS connection. */
        readonly encrypted?: boolean | undefined
      }
    | undefined
}

/** The part of node's ServerResponse that the kernel uses. */
export interface Outgoing extends EventEmitter {
  readonly headersSent: boolean
  readonly destroyed: boolean
  readonly writableFinished: boolean
  readonly writableNeedDrain: boolean
  writeHead(status: number, headers: string[]): unknown
  writeContinue(): void
  write(chunk: string | Uint8Array): boolean
  end(chunk?: string | Uint8Array): unknown
  destroy(): unknown
}

/** What all exchanges of a kernel share, besides the settings. */
export interface Shared {
  bodies: BodyBudget
  addressOf: AddressOf
  isProxy: IsProxy
}

const noParams: Readonly<Record<string, string>> = Object.freeze({})
const noHeaders: readonly string[] = []
let serials = 0

/** One request and its reply. Rarely needed values (query, body, signals) are created on first use. */
export class Exchange implements HttpRequest {
  /** Unique in this process. */
  readonly serial = ++serials
  readonly incoming: Incoming
  readonly outgoing: Outgoing
  readonly settings: KernelSettings
  readonly #shared: Shared
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
  readonly startedAt: number
  path = ''
  search = ''
  params = noParams
  caller = 'anonymous'
  userId: string | undefined
  scopes: ReadonlySet<Scope> | undefined
  route: Route | undefined
  /** Alternating names and values, sent with any answer. */
  commonHeaders = noHeaders
  /** The answer is decided; later ones are dropped. */
  answered = false
  /** The run of the answer, for the request log. */
  runId: string | undefined
  sessionId: string | undefined
  /** Of the error that is the answer, for the request log. */
  code: ErrorCode | undefined
  /** Zero until the head is written. */
  status = 0
  /** Close the connection after the answer. */
  closeConnection = false
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean
  #query: URLSearchParams | undefined
  #body: RequestBody | undefined
  #signal: AbortController | undefined
  #deadline: AbortController | undefined
  #expired: AppError | undefined
  #deadlineTimer: NodeJS.Timeout | undefined

  constructor(
    incoming: Incoming,
    outgoing: Outgoing,
    settings: KernelSettings,
    shared: Shared,
    awaitsContinue: boolean,
  ) {
    this.incoming = incoming
    this.outgoing = outgoing
    this.settings = settings
    this.#shared = shared
    this.method = incoming.method ?? 'GET'
    this.headers = incoming.headers
    this.startedAt = settings.clock()
    this.requestId = requestIdOf(this.headers, this.startedAt)
    this.awaitsContinue = awaitsContinue
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.search)
    return this.#query
  }

  get bodySize(): BodySize {
    const ofRoute = this.route?.maxBodyBytes
    return { maxBytes: ofRoute ?? this.settings.maxRequestBytes, isOfRoute: ofRoute !== undefined }
  }

  get body(): BodyReader {
    if (this.#body === undefined) {
      this.#body = new RequestBody(this.incoming, {
        ...this.bodySize,
        timeoutMs: this.settings.bodyTimeoutMs,
        lease: () => this.#shared.bodies.lease(this.caller),
        beforeRead: () => this.#continue(),
        onProgress: () => this.#postponeDeadline(),
      })
    }
    return this.#body
  }

  abortBody(error: AppError): void {
    this.#body?.abort(error)
  }

  releaseBody(): void {
    this.#body?.release()
  }

  /** After the answer, an unread rest of the body must not keep the connection open. */
  closeUnlessBodyEnds(): void {
    const { incoming, outgoing } = this
    if (incoming.complete || incoming.socket === undefined || outgoing.destroyed) return
    const timer = setTimeout(() => incoming.destroy(), this.settings.bodyTimeoutMs)
    const end = () => clearTimeout(timer)
    incoming.once('end', end).once('close', end)
  }

  get secure(): boolean {
    const { socket } = this.incoming
    const peer = socket?.remoteAddress
    const forwarded = this.headers['x-forwarded-proto']
    const isForwarded = typeof forwarded === 'string' && peer !== undefined && this.#shared.isProxy(peer)
    return socket?.encrypted === true || (isForwarded && forwarded.split(',').at(-1)?.trim().toLowerCase() === 'https')
  }

  get remoteAddress(): string | undefined {
    const forwardedFor = this.headers['x-forwarded-for']
    const peer = this.incoming.socket?.remoteAddress
    return this.#shared.addressOf(peer, typeof forwardedFor === 'string' ? forwardedFor : undefined)
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const controller = new AbortController()
      this.#signal = controller
      const { outgoing } = this
      if (outgoing.destroyed) controller.abort()
      else outgoing.once('close', () => outgoing.writableFinished || controller.abort())
    }
    return this.#signal.signal
  }

  get deadline(): AbortSignal {
    this.#deadline ??= new AbortController()
    if (this.#expired !== undefined) this.#deadline.abort(this.#expired)
    return this.#deadline.signal
  }

  /** Starts the request timeout: it aborts `deadline`, and after the grace period calls `answer` with the error. */
  startDeadline(answer: (error: AppError) => void): void {
    const { deadlineGraceMs } = this.settings
    const timeoutMs = this.route?.timeoutMs ?? this.settings.requestTimeoutMs
    this.#deadlineTimer = setTimeout(() => {
      const error = new AppError('timeout', `The request took longer than requestTimeout (${timeoutMs} ms).`)
      this.#expired = error
      this.#deadline?.abort(error)
      this.#deadlineTimer = setTimeout(answer, deadlineGraceMs, error)
    }, timeoutMs)
  }

  stopDeadline(): void {
    clearTimeout(this.#deadlineTimer)
  }

  #postponeDeadline(): void {
    if (this.#expired === undefined) this.#deadlineTimer?.refresh()
  }

  #continue(): void {
    if (!this.awaitsContinue) return
    this.awaitsContinue = false
    this.outgoing.writeContinue()
  }
}

const safeRequestId = /^[\x21-\x7e]{1,128}$/

/** The caller's `X-Request-Id` when it is safe to reflect (1 to 128 visible ASCII characters), else a new one. */
function requestIdOf(headers: IncomingHttpHeaders, now: number): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && safeRequestId.test(given) ? given : createId('req', now)
}

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Scope } from '../core/access/scope.ts'

export type MultipartPart =
  | { kind: 'field'; name: string; value: string }
  | { kind: 'file'; name: string; filename: string; mediaType: string; bytes: Uint8Array }

/** The body. It can be read once. Every method throws `payload_too_large` or `request_timeout`. */
export interface BodyReader {
  /** Lower-case media type without parameters; undefined when there is no body or no Content-Type. */
  readonly mediaType: string | undefined
  /** Whether the request has a body at all. */
  readonly present: boolean
  bytes(): Promise<Uint8Array>
  /** Decoded with the charset of Content-Type (default: UTF-8). Throws `unsupported_media_type` for an unknown charset. */
  text(): Promise<string>
  /** Undefined without a body. Throws `invalid_request` for forbidden depth, size or keys, before parsing. */
  json(): Promise<unknown>
  multipart(): Promise<MultipartPart[]>
  /**
   * The lines of the body, one after the other, for bodies that are too large for memory. The next bytes
   * are read when all lines so far were consumed. A line counts towards the budget until the next one is requested. Leaving early
   * leaves the rest unread. The request timeout restarts with each piece of data.
   */
  lines(options: LineOptions): AsyncGenerator<string>
  /** Frees the bytes early, for handlers that work for long. Absent in a request from another server. */
  release?(): void
}

export interface LineOptions {
  /** Maximum bytes per line; a longer line throws `payload_too_large`. */
  maxLineBytes: number
  /** Called with all bytes in order, for a digest. */
  onBytes?: ((piece: Uint8Array) => void) | undefined
}

export interface HttpRequest {
  readonly method: string
  /** Without the query, as the client sent it. */
  readonly path: string
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: BodyReader
  readonly requestId: string
  /** The caller, for idempotency keys and the log: `anonymous` or the id of the key, never the key itself. */
  readonly caller: string
  /** The user that the caller's key belongs to; undefined: the caller may see everything. */
  readonly userId: string | undefined
  /** What the caller's key may do; undefined: everything. */
  readonly scopes: ReadonlySet<Scope> | undefined
  /** Aborts when the client has left before the reply was finished. */
  readonly signal: AbortSignal
  /** Aborts when the request timeout of a plain answer has passed; its reason is an AppError `timeout`. */
  readonly deadline: AbortSignal
  /** The caller's address, as reported by trusted proxies; absent for `inject`. */
  readonly remoteAddress: string | undefined
  /** Whether the client came over TLS, as far as the server or a trusted proxy knows. */
  readonly secure?: boolean | undefined
}

export interface InjectRequest {
  method?: string
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array | Readable | undefined
  signal?: AbortSignal
}

/** `body` can be read once. */
export interface InjectResponse {
  status: number
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array>
  text(): Promise<string>
  json(): Promise<unknown>
}

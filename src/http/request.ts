import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Scope } from '../core/access/scope.ts'

/** One part of a multipart body. */
export type MultipartPart =
  | { kind: 'field'; name: string; value: string }
  | { kind: 'file'; name: string; filename: string; mediaType: string; bytes: Uint8Array }

/** The body, read once, counted while it is read. Every reader throws `payload_too_large` or `request_timeout`. */
export interface BodyReader {
  /** Lower-case media type without parameters; undefined when there is no body or no Content-Type. */
  readonly mediaType: string | undefined
  /** Whether the request has a body at all. */
  readonly present: boolean
  bytes(): Promise<Uint8Array>
  /** Decoded by the charset of Content-Type (UTF-8 when absent); an unknown one is `unsupported_media_type`. */
  text(): Promise<string>
  /** Undefined when there is no body. Depth, size and forbidden keys are checked before parsing: `invalid_request`. */
  json(): Promise<unknown>
  multipart(): Promise<MultipartPart[]>
  /**
   * A body of lines, one after the other, without their ends: for what is too large to be in memory at once. The next bytes
   * are read when all lines so far have been taken. A line is counted until the next one is asked for. Leaving early leaves
   * the rest unread. While bytes come, the request timeout starts again with each piece.
   */
  lines(options: LineOptions): AsyncGenerator<string>
  /**
   * Lets go of the bytes before the handler has returned, for one that works long with what it has read. Absent in a
   * request of somebody else's server.
   */
  release?(): void
}

export interface LineOptions {
  /** Of one line; more is `payload_too_large`. */
  maxLineBytes: number
  /** Sees all bytes in their order, for a digest. */
  onBytes?: ((piece: Uint8Array) => void) | undefined
}

/** A request as a plain value. */
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
  /** Who calls, for idempotency keys and the log: `anonymous` or the id of the key; never the key itself. */
  readonly caller: string
  /** The user that the caller's key belongs to; undefined: the caller may see everything. */
  readonly userId: string | undefined
  /** What the caller's key may do; undefined: everything. */
  readonly scopes: ReadonlySet<Scope> | undefined
  /** Aborts when the client has left before the reply was finished. */
  readonly signal: AbortSignal
  /** Aborts when the request timeout of a plain answer has passed; its reason is an AppError `timeout`. */
  readonly deadline: AbortSignal
  /** Of the caller, as far as the proxies that are trusted say; absent for `inject`. */
  readonly remoteAddress: string | undefined
}

/** What `inject` takes. */
export interface InjectRequest {
  method?: string
  /** Path and query. */
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array | Readable | undefined
  signal?: AbortSignal
}

/** What `inject` answers. `body` may be read once. */
export interface InjectResponse {
  status: number
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array>
  text(): Promise<string>
  json(): Promise<unknown>
}

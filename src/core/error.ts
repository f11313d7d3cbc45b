/** All codes with which a request can fail. Each edge (HTTP, JSON-RPC, exit codes) maps the whole list. */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'route_not_found'
  | 'session_not_found'
  | 'run_not_found'
  | 'agent_not_found'
  | 'summary_not_found'
  | 'document_not_found'
  | 'chunk_not_found'
  | 'file_not_found'
  | 'collection_not_found'
  | 'owner_not_found'
  | 'fact_not_found'
  | 'call_not_found'
  | 'schedule_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'run_cancelled'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'misdirected_request'
  | 'idempotency_mismatch'
  | 'unreadable_document'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal'
  | 'run_failed'
  | 'run_interrupted'
  | 'run_limit'
  | 'summary_failed'
  | 'summary_not_configured'
  | 'unavailable'
  | 'timeout'
  | 'storage_full'

/** What is wrong with one field: `path` is dotted (`parts.0.type`), as the client wrote it. */
export interface ErrorDetail {
  path: string
  message: string
}

export interface AppErrorOptions {
  details?: readonly ErrorDetail[] | undefined
  cause?: unknown
  /** Seconds to wait before a retry; sent as `Retry-After`. */
  retryAfterSeconds?: number | undefined
  /** Methods that the path allows; sent as `Allow`. */
  allow?: readonly string[] | undefined
  /** How to get in; sent as `WWW-Authenticate`. */
  challenge?: string | undefined
  runId?: string | undefined
  sessionId?: string | undefined
}

const mark = Symbol.for('agentserve.error')

/** The only error class of this package. Its message is meant for the caller and may be shown to them. */
export class AppError extends Error {
  override readonly name = 'AppError'
  /** Decide by this code; the wording of messages may change. */
  readonly code: ErrorCode
  /** One per wrong field; may be empty. */
  readonly details: readonly ErrorDetail[]
  readonly retryAfterSeconds: number | undefined
  /** Methods that the path allows. */
  readonly allow: readonly string[] | undefined
  /** How to get in. */
  readonly challenge: string | undefined
  readonly runId: string | undefined
  readonly sessionId: string | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.allow = options.allow
    this.challenge = options.challenge
    this.runId = options.runId
    this.sessionId = options.sessionId
    Object.defineProperty(this, mark, { value: true })
  }
}

/** Recognises an `AppError` of any copy of this package (a config's own import of it included). */
export function isAppError(error: unknown): error is AppError {
  try {
    return typeof error === 'object' && error !== null && mark in error
  } catch {
    // An agent may throw any value, even a proxy that throws itself.
    return false
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error && typeof error.message === 'string' && error.message !== '') return error.message
    return String(error)
  } catch {
    return 'an error that cannot be shown'
  }
}

/** An AppError unchanged; any other error as `internal`, with the original as `cause` and without its text. */
export function toAppError(error: unknown): AppError {
  if (isAppError(error)) return error
  return new AppError('internal', "Internal error. The server's log has the details.", { cause: error })
}

/** How to log a failure that its client was told of: what is over by itself, and is tried again, calls nobody. */
export function logLevelOf(error: unknown): 'warn' | 'error' {
  return isAppError(error) && error.code === 'unavailable' ? 'warn' : 'error'
}

/** A 400 about one field, or about the whole request without `path`. */
export function invalid(message: string, path?: string): AppError {
  return new AppError('invalid_request', message, path === undefined ? {} : { details: [{ path, message }] })
}

export function invalidCursor(): AppError {
  return invalid('Invalid cursor. Omit it to start at the first page.', 'cursor')
}

export type Findable = 'session' | 'run' | 'agent' | 'document' | 'chunk' | 'file' | 'fact' | 'collection'

export function notFound(thing: Findable, id: string): AppError {
  return new AppError(`${thing}_not_found`, `There is no ${thing} '${id}'.`)
}

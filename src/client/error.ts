import { AppError, type ErrorCode, type ErrorDetail, isAppError } from '../core/error.ts'
import type { ClientResponse } from './transport.ts'

const codes: Record<ErrorCode, true> = {
  invalid_request: true,
  unauthorized: true,
  forbidden: true,
  route_not_found: true,
  session_not_found: true,
  run_not_found: true,
  agent_not_found: true,
  summary_not_found: true,
  document_not_found: true,
  collection_not_found: true,
  method_not_allowed: true,
  request_timeout: true,
  conflict: true,
  run_cancelled: true,
  precondition_failed: true,
  payload_too_large: true,
  unsupported_media_type: true,
  misdirected_request: true,
  idempotency_mismatch: true,
  unreadable_document: true,
  rate_limited: true,
  headers_too_large: true,
  internal: true,
  run_failed: true,
  run_interrupted: true,
  summary_failed: true,
  summary_not_configured: true,
  unavailable: true,
  timeout: true,
  storage_full: true,
}

const byStatus: Record<number, ErrorCode> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'route_not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  421: 'misdirected_request',
  429: 'rate_limited',
  431: 'headers_too_large',
  502: 'unavailable',
  503: 'unavailable',
  504: 'timeout',
  507: 'storage_full',
}

/** For an answer whose body does not say: a proxy's page, or a code that a newer server has and we have not. */
export function codeOfStatus(status: number): ErrorCode {
  return byStatus[status] ?? (status >= 500 ? 'internal' : 'invalid_request')
}

/** The server's error, as it was thrown there: code, message, details, ids and Retry-After survive. */
export function toServerError(response: ClientResponse, text: string, where: string): AppError {
  const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN)
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : undefined
  const error = errorOf(text)
  if (error === undefined) {
    const message = `${where} answered ${response.status} without an error that this client understands.`
    return new AppError(codeOfStatus(response.status), message, { retryAfterSeconds })
  }
  const code = isErrorCode(error.code) ? error.code : codeOfStatus(response.status)
  const message = typeof error.message === 'string' ? error.message : `${where} answered ${response.status}.`
  return new AppError(code, message, {
    retryAfterSeconds,
    details: Array.isArray(error.details) ? (error.details as ErrorDetail[]) : undefined,
    runId: typeof error.run_id === 'string' ? error.run_id : undefined,
    sessionId: typeof error.session_id === 'string' ? error.session_id : undefined,
  })
}

function errorOf(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || !('error' in body)) return undefined
    const { error } = body
    return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(codes, value)
}

const explanations: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there; is the server running?',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
}

/** What the network said, with the URL and in words; an AppError stays what it is. */
export function toNetworkError(error: unknown, where: string): AppError {
  if (isAppError(error)) return error
  const code = systemCode(error)
  const said = error instanceof Error ? error.message : String(error)
  const why = (code === undefined ? undefined : explanations[code]) ?? said
  return new AppError('unavailable', `No answer from ${where}: ${why}`, { cause: error })
}

// `fetch` and happy-eyeballs connections wrap the error that says what happened.
function systemCode(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 3) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  if ('errors' in error && Array.isArray(error.errors)) return systemCode(error.errors[0], depth + 1)
  return 'cause' in error ? systemCode(error.cause, depth + 1) : undefined
}

import type { AppError, ErrorCode } from '../core/error.ts'
import type { Reply } from './reply.ts'

export const statusOf: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  route_not_found: 404,
  session_not_found: 404,
  run_not_found: 404,
  agent_not_found: 404,
  summary_not_found: 404,
  document_not_found: 404,
  chunk_not_found: 404,
  file_not_found: 404,
  collection_not_found: 404,
  owner_not_found: 404,
  fact_not_found: 404,
  schedule_not_found: 404,
  call_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  run_cancelled: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  misdirected_request: 421,
  idempotency_mismatch: 422,
  unreadable_document: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  run_failed: 500,
  run_interrupted: 500,
  run_limit: 500,
  summary_failed: 500,
  summary_not_configured: 501,
  unavailable: 503,
  timeout: 504,
  storage_full: 507,
}

export function errorBody(error: AppError, requestId: string) {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.details.length === 0 ? {} : { details: error.details }),
      ...(error.runId === undefined ? {} : { run_id: error.runId }),
      ...(error.sessionId === undefined ? {} : { session_id: error.sessionId }),
    },
    request_id: requestId,
  }
}

/** `Retry-After`, `Allow`, `WWW-Authenticate`. */
export function errorHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = {}
  const retryAfter = error.retryAfterSeconds ?? (needsRetryAfter(error.code) ? 1 : undefined)
  if (retryAfter !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfter)))
  if (error.allow !== undefined) headers.Allow = error.allow.join(', ')
  const challenge = error.challenge ?? (error.code === 'unauthorized' ? 'Bearer' : undefined)
  if (challenge !== undefined) headers['WWW-Authenticate'] = challenge
  return headers
}

export function errorReply(error: AppError, requestId: string): Reply {
  return { status: statusOf[error.code], body: { kind: 'json', value: errorBody(error, requestId) } }
}

function needsRetryAfter(code: ErrorCode): boolean {
  return code === 'rate_limited' || code === 'unavailable'
}

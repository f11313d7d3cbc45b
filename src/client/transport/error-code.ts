import type { ErrorCode } from '../../core/error.ts'

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
  chunk_not_found: true,
  file_not_found: true,
  collection_not_found: true,
  owner_not_found: true,
  fact_not_found: true,
  schedule_not_found: true,
  call_not_found: true,
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
  run_limit: true,
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

/** For an answer without a known code: a proxy's page, or the code of a newer server. */
export function codeOfStatus(status: number): ErrorCode {
  return byStatus[status] ?? (status >= 500 ? 'internal' : 'invalid_request')
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(codes, value)
}

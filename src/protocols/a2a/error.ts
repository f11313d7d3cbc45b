import { type ErrorCode, isAppError, toAppError } from '../../core/error.ts'
import { errorHeaders } from '../../http/error.ts'
import { json, type Reply } from '../../http/reply.ts'

export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const

export type RpcCode = (typeof rpcCodes)[keyof typeof rpcCodes]

/** A string or number is echoed; null if the id is absent or unreadable (JSON-RPC 2.0, section 5). */
export type RpcId = string | number | null

const { invalidRequest, methodNotFound, invalidParams, internalError } = rpcCodes

interface RpcMapping {
  code: RpcCode
  status: number
  /** The client gets a general sentence; the log has the rest. */
  hidden?: true
}

/** The JSON-RPC code of each error code. Only errors of HTTP itself keep their status. */
export const rpcTable: Record<ErrorCode, RpcMapping> = {
  invalid_request: { code: invalidRequest, status: 200 },
  unauthorized: { code: invalidRequest, status: 401 },
  forbidden: { code: invalidRequest, status: 403 },
  route_not_found: { code: methodNotFound, status: 404 },
  session_not_found: { code: invalidParams, status: 200 },
  run_not_found: { code: invalidParams, status: 200 },
  agent_not_found: { code: invalidParams, status: 200 },
  summary_not_found: { code: invalidParams, status: 200 },
  document_not_found: { code: invalidParams, status: 200 },
  chunk_not_found: { code: invalidParams, status: 200 },
  file_not_found: { code: invalidParams, status: 200 },
  collection_not_found: { code: invalidParams, status: 200 },
  owner_not_found: { code: invalidParams, status: 200 },
  fact_not_found: { code: invalidParams, status: 200 },
  schedule_not_found: { code: invalidParams, status: 200 },
  call_not_found: { code: invalidParams, status: 200 },
  method_not_allowed: { code: invalidRequest, status: 405 },
  request_timeout: { code: invalidRequest, status: 408 },
  conflict: { code: invalidRequest, status: 200 },
  run_cancelled: { code: internalError, status: 200 },
  precondition_failed: { code: invalidRequest, status: 200 },
  payload_too_large: { code: invalidRequest, status: 413 },
  unsupported_media_type: { code: invalidRequest, status: 415 },
  misdirected_request: { code: invalidRequest, status: 421 },
  idempotency_mismatch: { code: invalidParams, status: 200 },
  unreadable_document: { code: invalidParams, status: 200 },
  rate_limited: { code: invalidRequest, status: 429 },
  headers_too_large: { code: invalidRequest, status: 431 },
  internal: { code: internalError, status: 200, hidden: true },
  run_failed: { code: internalError, status: 200 },
  run_interrupted: { code: internalError, status: 200 },
  run_limit: { code: internalError, status: 200 },
  summary_failed: { code: internalError, status: 200 },
  summary_not_configured: { code: internalError, status: 200 },
  unavailable: { code: internalError, status: 200, hidden: true },
  timeout: { code: internalError, status: 200 },
  storage_full: { code: internalError, status: 200, hidden: true },
}

const hiddenText: Partial<Record<ErrorCode, string>> = {
  unavailable: 'the server cannot accept work now; retry later',
  storage_full: 'the server cannot store anything now; retry later',
}

/** A failure that already has its JSON-RPC code. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: RpcCode
  constructor(code: RpcCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The error as the client gets it: code, text and HTTP status. Foreign errors show no details. */
export function describeError(error: unknown): { code: RpcCode; message: string; status: number } {
  if (error instanceof RpcError) return { code: error.code, message: error.message, status: 200 }
  const known = toAppError(error)
  const { code, status, hidden } = rpcTable[known.code]
  const message = hidden === undefined ? known.message : (hiddenText[known.code] ?? 'internal error')
  return { code, message, status }
}

/** The error as a JSON-RPC response. */
export function errorReply(error: unknown, id: RpcId, headers?: Record<string, string>): Reply {
  const { code, message, status } = describeError(error)
  const all = isAppError(error) ? { ...errorHeaders(error), ...headers } : headers
  return json({ jsonrpc: '2.0', id, error: { code, message } }, status, all)
}

/** Errors about the content of a valid request are errors of its params. */
export function aboutParams(error: unknown): unknown {
  return isAppError(error) && error.code === 'invalid_request' ? new RpcError(invalidParams, error.message) : error
}

/** Whether to log the error, because the client does not get its details. */
export function isOurFault(error: unknown): boolean {
  if (error instanceof RpcError) return false
  return !isAppError(error) || rpcTable[error.code].code === internalError
}

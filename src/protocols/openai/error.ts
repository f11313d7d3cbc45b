import { AppError, type ErrorCode } from '../../core/error.ts'
import { errorHeaders, statusOf } from '../../http/error.ts'
import type { Reply } from '../../http/reply.ts'

/** As clients of OpenAI read it. `param`: the field of the request. */
export interface OpenAIError {
  message: string
  type: 'invalid_request_error' | 'permission_error' | 'rate_limit_error' | 'server_error'
  param: string | null
  code: string | null
}

interface Shape {
  type: OpenAIError['type']
  /** Default: ours. */
  code?: string
}

const request: Shape = { type: 'invalid_request_error' }
const server: Shape = { type: 'server_error' }

const shapes: Readonly<Record<ErrorCode, Shape>> = {
  invalid_request: { ...request, code: 'invalid_value' },
  unauthorized: { ...request, code: 'invalid_api_key' },
  forbidden: { type: 'permission_error' },
  route_not_found: request,
  session_not_found: { ...request, code: 'conversation_not_found' },
  run_not_found: { ...request, code: 'response_not_found' },
  agent_not_found: { ...request, code: 'model_not_found' },
  summary_not_found: request,
  document_not_found: request,
  chunk_not_found: request,
  file_not_found: request,
  collection_not_found: request,
  owner_not_found: request,
  fact_not_found: request,
  schedule_not_found: request,
  call_not_found: request,
  method_not_allowed: request,
  request_timeout: request,
  conflict: request,
  run_cancelled: request,
  precondition_failed: request,
  payload_too_large: request,
  unsupported_media_type: request,
  misdirected_request: { type: 'permission_error' },
  idempotency_mismatch: request,
  unreadable_document: request,
  rate_limited: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  headers_too_large: request,
  internal: server,
  run_failed: server,
  run_interrupted: server,
  run_limit: server,
  summary_failed: server,
  summary_not_configured: server,
  unavailable: server,
  timeout: server,
  storage_full: server,
}

const codes = new WeakMap<AppError, string>()

/** An error with a code that OpenAI has for it, such as `unsupported_parameter`. */
export function withCode(error: AppError, code: string): AppError {
  codes.set(error, code)
  return error
}

/** What the agents can't do with a field of the request. `param`: as OpenAI writes it, `messages[0].content[1]`. */
export function unsupported(message: string, param: string, code = 'unsupported_parameter'): AppError {
  return withCode(new AppError('invalid_request', message, { details: [{ path: param, message }] }), code)
}

export function openaiErrorOf(error: AppError): OpenAIError {
  const { type, code = error.code } = shapes[error.code]
  return {
    message: error.message,
    type,
    param: error.code === 'agent_not_found' ? 'model' : (error.details[0]?.path ?? null),
    code: codes.get(error) ?? code,
  }
}

/**
 * The error body of OpenAI. Its clients repeat 408, 409, 429 and everything from 500 on without a key of their own, so that a failing
 * agent would run three times: they are told not to, unless the request was refused before a run began.
 */
export function openaiError(error: AppError): Reply {
  const status = statusOf[error.code]
  const maySendAgain = error.runId === undefined && sentAgain.has(error.code)
  const { runId, sessionId } = error
  return {
    status,
    headers: {
      ...errorHeaders(error),
      ...(!maySendAgain && { 'x-should-retry': 'false' }),
      ...(runId !== undefined && { 'X-Run-Id': runId }),
      ...(sessionId !== undefined && { 'X-Session-Id': sessionId }),
    },
    body: { kind: 'json', value: { error: openaiErrorOf(error) } },
  }
}

/** Refusals that pass by themselves. */
const sentAgain: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'unavailable', 'request_timeout', 'storage_full'])

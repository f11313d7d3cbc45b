import type { AppError, ErrorCode } from '../../core/error.ts'
import { isMalformedJson } from '../../http/body/json-guard.ts'
import { errorHeaders, statusOf } from '../../http/error.ts'
import { json, type Reply } from '../../http/reply.ts'

const parseError = -32700
const invalidRequest = -32600
const internalError = -32603
/** What the SDK gives to what HTTP alone refuses, such as a method. */
const refused = -32000

const codes: Partial<Record<ErrorCode, number>> = {
  invalid_request: invalidRequest,
  internal: internalError,
  method_not_allowed: refused,
  unsupported_media_type: refused,
}

/** What is refused before it is a call: the status of HTTP, and an error of JSON-RPC, which belongs to no request. */
export function mcpError(error: AppError): Reply {
  const code = isMalformedJson(error)
    ? parseError
    : (codes[error.code] ?? (statusOf[error.code] < 500 ? invalidRequest : internalError))
  return json({ jsonrpc: '2.0', error: { code, message: error.message } }, statusOf[error.code], errorHeaders(error))
}

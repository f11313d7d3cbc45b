import { type ErrorCode, type ErrorDetail, isAppError, toAppError } from '../../../core/error.ts'
import type { JsonObject } from '../../../core/json.ts'
import { errorHeaders, statusOf } from '../../../http/error.ts'
import { json, type Reply } from '../../../http/reply.ts'
import { describeError, type RpcId, rpcCodes, rpcTable } from '../error.ts'

interface Kind {
  code: number
  /** Over HTTP+JSON; JSON-RPC errors have 200. */
  http: number
}

const kinds = {
  PARSE_ERROR: { code: rpcCodes.parseError, http: 400 },
  INVALID_REQUEST: { code: rpcCodes.invalidRequest, http: 400 },
  METHOD_NOT_FOUND: { code: rpcCodes.methodNotFound, http: 404 },
  INVALID_PARAMS: { code: rpcCodes.invalidParams, http: 400 },
  TASK_NOT_FOUND: { code: -32001, http: 404 },
  TASK_NOT_CANCELABLE: { code: -32002, http: 400 },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32003, http: 400 },
  UNSUPPORTED_OPERATION: { code: -32004, http: 400 },
  VERSION_NOT_SUPPORTED: { code: -32009, http: 400 },
} as const satisfies Record<string, Kind>

export type ErrorKind = keyof typeof kinds

/** A failure in the words of A2A. */
export class A2AError extends Error {
  override readonly name = 'A2AError'
  readonly kind: ErrorKind
  readonly details: readonly ErrorDetail[]

  constructor(kind: ErrorKind, message: string, details: readonly ErrorDetail[] = []) {
    super(message)
    this.kind = kind
    this.details = details
  }
}

export function invalidParams(message: string, path?: string): A2AError {
  return new A2AError('INVALID_PARAMS', message, path === undefined ? [] : [{ path, message }])
}

export function taskNotFound(id: string): A2AError {
  return new A2AError('TASK_NOT_FOUND', `There is no task '${id}'.`)
}

/** What a client is told of an error. */
interface Told extends Kind {
  message: string
  details: JsonObject[]
}

const about: Partial<Record<ErrorCode, ErrorKind>> = {
  invalid_request: 'INVALID_PARAMS',
  run_not_found: 'TASK_NOT_FOUND',
  session_not_found: 'INVALID_PARAMS',
  idempotency_mismatch: 'INVALID_PARAMS',
}

function tell(error: unknown): Told {
  if (error instanceof A2AError) {
    const { kind, message, details } = error
    return { ...kinds[kind], message, details: detailsOf(kind, details) }
  }
  const known = toAppError(error)
  const kind = about[known.code]
  if (kind !== undefined) return tell(new A2AError(kind, known.message, known.details))
  const { code, message } = describeError(error)
  const http = statusOf[known.code]
  const details = code === rpcCodes.invalidParams ? detailsOf('INVALID_PARAMS', known.details) : []
  return { code, http, message, details }
}

function detailsOf(kind: ErrorKind, wrong: readonly ErrorDetail[]): JsonObject[] {
  if (kinds[kind].code > -32100) {
    return [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: kind, domain: 'a2a-protocol.org', metadata: {} },
    ]
  }
  if (wrong.length === 0) return []
  const fieldViolations = wrong.map(({ path, message }) => ({ field: path, description: message }))
  return [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }]
}

export function rpcError(error: unknown, id: RpcId): JsonObject {
  const { code, message, details } = tell(error)
  return { jsonrpc: '2.0', id, error: { code, message, ...(details.length > 0 && { data: details }) } }
}

/** Errors of JSON-RPC have HTTP status 200; what HTTP refuses keeps its own. */
export function rpcErrorReply(error: unknown, id: RpcId): Reply {
  return json(rpcError(error, id), rpcStatus(error), headersOf(error))
}

function rpcStatus(error: unknown): number {
  const code = isAppError(error) ? error.code : undefined
  // The address names the agent: there is nothing at this one.
  if (code === 'agent_not_found') return 404
  const isOwn = error instanceof A2AError || (code !== undefined && about[code] !== undefined)
  return isOwn ? 200 : describeError(error).status
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  507: 'RESOURCE_EXHAUSTED',
}

export function restError(error: unknown): JsonObject {
  const { code, http, message, details } = tell(error)
  const isState = code > -32100 && http === 400
  const status = isState ? 'FAILED_PRECONDITION' : (statusNames[http] ?? (http < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'))
  return { error: { code: http, status, message, details } }
}

export const restType = 'application/a2a+json'

export function restErrorReply(error: unknown): Reply {
  const headers = { ...headersOf(error), 'Content-Type': restType }
  return json(restError(error), tell(error).http, headers)
}

function headersOf(error: unknown): Record<string, string> {
  return isAppError(error) ? errorHeaders(error) : {}
}

/** Whether to log the error, because the client does not get its details. */
export function isOurFault(error: unknown): boolean {
  if (error instanceof A2AError) return false
  return !isAppError(error) || rpcTable[error.code].code === rpcCodes.internalError
}

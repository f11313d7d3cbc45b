import { AppError, type AppErrorOptions, type ErrorCode, isAppError } from '../../core/error.ts'
import { codeOfStatus, isErrorCode } from './error-code.ts'
import { factsOf } from './error-facts.ts'
import type { ClientResponse } from './transport.ts'

/** An error answer of the server. Network errors are AppErrors without a status. */
export class ServerError extends AppError {
  readonly status: number
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined

  constructor(code: ErrorCode, message: string, answer: ServerErrorOptions) {
    super(code, message, answer)
    this.status = answer.status
    this.requestId = answer.requestId
  }
}

export interface ServerErrorOptions extends AppErrorOptions {
  status: number
  requestId?: string | undefined
}

/** Finds the error in an answer, whose text is decoded when it is asked for. `where`: the name of the server. */
export type Refusal = (response: ClientResponse, text: () => string, where: string) => AppError | undefined

/** An answer outside 2xx is an error. */
export const refusalOf: Refusal = (response, text, where) =>
  response.status < 300 ? undefined : toServerError(response, text(), where)

/** The server's error with its code, message, details, ids and Retry-After. */
function toServerError(response: ClientResponse, text: string, where: string): ServerError {
  const { status, headers } = response
  const error = errorOf(text) ?? {}
  const code = isErrorCode(error.code) ? error.code : codeOfStatus(status)
  const unclear = `${where} answered ${status} with an error that this client does not understand.`
  const message = typeof error.message === 'string' ? error.message : unclear
  const retryAfterSeconds = toRetryAfter(headers['retry-after'])
  return new ServerError(code, message, { status, retryAfterSeconds, ...factsOf(error, headers) })
}

/** The same error with the id of its run. */
export function withRun(error: unknown, runId: string): unknown {
  if (!isAppError(error) || error.runId !== undefined) return error
  const { code, message, details, retryAfterSeconds } = error
  const options = { runId, details, retryAfterSeconds, cause: error }
  if (!(error instanceof ServerError)) return new AppError(code, message, options)
  return new ServerError(code, message, { ...options, status: error.status, requestId: error.requestId })
}

/** Seconds from now, from a number or a date (RFC 9110 10.2.3). */
export function toRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

/** The `error` object of the body; undefined if the text is not an error body. */
export function errorOf(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || !('error' in body)) return undefined
    const { error } = body
    return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** The error of an error event. */
export function toStreamedError({ code, message }: { code: string; message: string }): AppError {
  return new AppError(isErrorCode(code) ? code : 'internal', message)
}

import { AppError, type ErrorCode } from '../../core/error.ts'
import { type Refusal, refusalOf, ServerError, toRetryAfter } from './error.ts'

const codes: Record<number, ErrorCode> = {
  [-32700]: 'invalid_request',
  [-32600]: 'invalid_request',
  [-32601]: 'invalid_request',
  [-32602]: 'invalid_request',
}

/** The error of an A2A answer; undefined if it is a result. The dialect has little more than a text for the reason. */
export const rpcRefusalOf: Refusal = (response, text, name) => {
  const refusal = refusalOf(response, text, name)
  if (refusal !== undefined) return refusal
  const body = read(text())
  if (isObject(body?.result) && isObject(body.result.task)) return undefined
  if (!isObject(body?.error)) return new AppError('internal', `${name} sent an answer that is not A2A.`)
  const { headers, status } = response
  const message = String(body.error.message)
  const retryAfterSeconds = toRetryAfter(headers['retry-after'])
  return new ServerError(codeOf(Number(body.error.code), message, retryAfterSeconds), message, {
    status,
    requestId: headers['x-request-id'],
    retryAfterSeconds,
    runId: headers['x-run-id'],
    sessionId: headers['x-session-id'],
  })
}

function codeOf(code: number, message: string, retryAfterSeconds: number | undefined): ErrorCode {
  if (message.startsWith('agent not found')) return 'agent_not_found'
  const known = codes[code]
  if (retryAfterSeconds === undefined) return known ?? 'run_failed'
  // An error that can be retried is a problem of the server, or the same request is still in progress.
  return known === undefined ? 'unavailable' : 'conflict'
}

function read(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

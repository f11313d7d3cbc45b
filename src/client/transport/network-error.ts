import { AppError, isAppError } from '../../core/error.ts'

const explanations: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there; is the server running?',
  ENOENT: 'nothing listens there any more',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNRESET: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
}

const beforeAnythingWasSent = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

/** Whether the server can't have seen the request. */
export function isUndelivered({ cause }: AppError): boolean {
  return beforeAnythingWasSent.has(systemCode(cause) ?? '')
}

/** A readable error for a network failure, with the URL. An AppError is returned unchanged. */
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

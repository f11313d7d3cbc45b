import { AppError, isAppError } from '../../core/error.ts'

/** A browser never says whether the request was sent. */
export function isUndelivered(_error: AppError): boolean {
  return false
}

/** A readable error for a network failure, with the server's name. An AppError is returned unchanged. */
export function toNetworkError(error: unknown, where: string): AppError {
  if (isAppError(error)) return error
  const said = error instanceof Error ? error.message : String(error)
  return new AppError('unavailable', `No answer from ${where}: ${said}`, { cause: error })
}

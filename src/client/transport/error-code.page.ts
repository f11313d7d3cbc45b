import type { ErrorCode } from '../../core/error.ts'

/** What a request is repeated for: a proxy between the page and its server answers so. */
const passing: Record<number, ErrorCode> = {
  408: 'request_timeout',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
}

/** What `error-code.ts` is in the studio, which tells errors without a code by their status. */
export function codeOfStatus(status: number): ErrorCode {
  return passing[status] ?? 'internal'
}

/** The studio's server is of the same build: it sends no code that the page does not know. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string'
}

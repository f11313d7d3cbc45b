import { AppError } from '../core/error.ts'

/** Larger files are refused before they are read. */
export const maxFileBytes = 100_000_000

/** `limit`: the name of the limit, if it can be set. */
export function fileTooLarge(bytes: number, maxBytes: number, limit = ''): AppError {
  return new AppError(
    'payload_too_large',
    `it has ${inMegabytes(bytes)}, and the limit is ${inMegabytes(maxBytes)}${limit}`,
  )
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1).replace(/\.0$/, '')} MB`
}

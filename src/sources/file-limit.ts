import { AppError } from '../core/error.ts'
import { shownBytes } from '../core/limits.ts'

/** `limit`: the name of the setting, and what else helps. */
export function fileTooLarge(bytes: number, maxBytes: number, limit: string): AppError {
  return new AppError(
    'payload_too_large',
    `it has ${shownBytes(bytes)}, and the limit is ${shownBytes(maxBytes)} (${limit})`,
  )
}

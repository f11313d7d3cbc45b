import { AppError } from '../core/error.ts'

/** `limit`: the name of the setting, and what else helps. */
export function fileTooLarge(bytes: number, maxBytes: number, limit: string): AppError {
  return new AppError('payload_too_large', `it has ${shown(bytes)}, and the limit is ${shown(maxBytes)} (${limit})`)
}

function shown(bytes: number): string {
  if (bytes < 100_000) return `${bytes} bytes`
  return `${(bytes / 1e6).toFixed(1).replace(/\.0$/, '')} MB`
}

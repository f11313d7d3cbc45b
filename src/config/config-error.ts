import { AppError, type ErrorDetail } from '../core/error.ts'

export interface ConfigErrorPlace {
  /** Absolute. */
  file?: string | undefined
  line?: number | undefined
  /** The lines around the error, ready to print. */
  excerpt?: string | undefined
  /** The local files that were read before the error: `dev` watches them for its correction. */
  files?: readonly string[] | undefined
  details?: readonly ErrorDetail[] | undefined
  cause?: unknown
}

/** An invalid configuration. The message names the file, the key, the value and what is allowed. */
export class ConfigError extends AppError {
  readonly file: string | undefined
  readonly line: number | undefined
  readonly excerpt: string | undefined
  readonly files: readonly string[]

  constructor(message: string, place: ConfigErrorPlace = {}) {
    super('invalid_request', message, { details: place.details, cause: place.cause })
    this.file = place.file
    this.line = place.line
    this.excerpt = place.excerpt
    this.files = place.files ?? []
  }
}

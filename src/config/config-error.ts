import { AppError, type ErrorDetail } from '../core/error.ts'

export interface ConfigErrorPlace {
  /** Absolute. */
  file?: string | undefined
  line?: number | undefined
  /** The lines around, ready to print. */
  excerpt?: string | undefined
  /** The local files that had been read when it failed: what to watch until it is mended. */
  files?: readonly string[] | undefined
  details?: readonly ErrorDetail[] | undefined
  cause?: unknown
}

/** A configuration that can't be used. Its message names the file, the key, the value and what is allowed. */
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

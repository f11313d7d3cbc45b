import { type DestinationStream, destination, pino } from 'pino'
import type { Logger } from '../core/logger.ts'

export interface LoggerOptions {
  debug: boolean
  /**
   * Where lines go; default: standard error, without waiting for it: a line a request, written at once, would hold up the
   * server whenever whoever reads them is slow. What is left is written when the process ends.
   */
  stream?: DestinationStream | undefined
}

/** JSON lines. An error is logged by type, message and code; with `debug` by its stack too. */
export function createLogger({ debug, stream }: LoggerOptions): Logger {
  const toError = (error: unknown): unknown => (error instanceof Error ? describeError(error, debug) : error)
  return pino(
    { level: debug ? 'debug' : 'info', base: null, serializers: { error: toError, err: toError } },
    stream ?? destination({ dest: 2, sync: false }),
  )
}

function describeError(error: Error, withStack: boolean): object {
  const { name: type, message, cause } = error
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  return {
    type,
    message,
    ...code,
    ...(cause instanceof Error ? { cause: describeError(cause, withStack) } : {}),
    ...(withStack ? { stack: error.stack } : {}),
  }
}

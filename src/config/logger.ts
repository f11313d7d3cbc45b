import { type DestinationStream, destination, pino } from 'pino'
import { messageOf } from '../core/error.ts'
import type { Logger } from '../core/logger.ts'

/** An error may be its own cause. */
const maxCauses = 5

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
  const toError = (error: unknown): unknown => toPlain(error, debug)
  return pino(
    { level: debug ? 'debug' : 'info', base: null, serializers: { error: toError, err: toError } },
    stream ?? destination({ dest: 2, sync: false }),
  )
}

/** Whatever was thrown: what can't even be looked at must not end whoever logs it. */
function toPlain(error: unknown, withStack: boolean): unknown {
  try {
    return error instanceof Error ? describeError(error, withStack, maxCauses) : error
  } catch {
    return { type: 'Error', message: messageOf(error) }
  }
}

function describeError(error: Error, withStack: boolean, causes: number): object {
  const { name: type, message, cause } = error
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  return {
    type,
    message,
    ...code,
    ...(cause instanceof Error && causes > 0 ? { cause: describeError(cause, withStack, causes - 1) } : {}),
    ...(withStack ? { stack: error.stack } : {}),
  }
}

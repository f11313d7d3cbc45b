import { type DestinationStream, destination, pino } from 'pino'
import { messageOf } from '../core/error.ts'
import type { Logger } from '../core/logger.ts'

/** An error may be its own cause. */
const maxCauses = 5

export interface LoggerOptions {
  debug: boolean
  /** Default: standard error, asynchronously: a slow reader must not block the server. Flushed at exit. */
  stream?: DestinationStream | undefined
}

/** JSON lines. An error is logged with its type, message and code; with `debug` also with its stack. */
export function createLogger({ debug, stream }: LoggerOptions): Logger {
  const toError = (error: unknown): unknown => toPlain(error, debug)
  return pino(
    { level: debug ? 'debug' : 'info', base: null, serializers: { error: toError, err: toError } },
    stream ?? destination({ dest: 2, sync: false }),
  )
}

/** Any thrown value: one that throws on access must not break the logger. */
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

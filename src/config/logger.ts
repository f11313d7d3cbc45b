import { once } from 'node:events'
import { type DestinationStream, destination, pino, symbols } from 'pino'
import { messageOf } from '../core/error.ts'
import type { Logger } from '../core/logger.ts'

/** An error may be its own cause. */
const maxCauses = 5
/** How long a line may wait for others, and how much of them: a write costs about as much as making a line. */
const gatherMs = 50
const gatherCharacters = 16 * 1024
/** For a reader of standard error that has stopped reading. */
const longestFlushMs = 1_000
const warning = 40

export interface LoggerOptions {
  debug: boolean
  /**
   * Default: standard error, asynchronously: a slow reader must not block the server. Lines are written together, at most 50 ms
   * later; a warning or an error at once, with those before it. Flushed at exit.
   */
  stream?: DestinationStream | undefined
}

/** JSON lines. An error is logged with its type, message and code; with `debug` also with its stack. */
export function createLogger({ debug, stream }: LoggerOptions): Logger {
  const toError = (error: unknown): unknown => toPlain(error, debug)
  return pino(
    { level: debug ? 'debug' : 'info', base: null, serializers: { error: toError, err: toError } },
    stream ?? toStandardError(),
  )
}

let standardError: { stream: DestinationStream; written(): Promise<void> } | undefined

/** Resolves when the log is written, so that what is printed next stands after it; at most a second later. */
export async function flushLog(): Promise<void> {
  await standardError?.written()
}

/** One for all loggers of the process. */
function toStandardError(): DestinationStream {
  if (standardError !== undefined) return standardError.stream
  const out = destination({ dest: 2, sync: false })
  let isIdle = true
  out.on('drain', () => (isIdle = true))
  const { stream, flush } = gatherLines((lines) => {
    isIdle = false
    out.write(lines)
  })
  const written = async () => {
    flush()
    // An error of writing is the process's: nobody reads the log any more.
    if (!isIdle) await once(out, 'drain', { signal: AbortSignal.timeout(longestFlushMs) }).catch(() => {})
  }
  process.on('exit', () => {
    flush()
    out.flushSync()
  })
  standardError = { stream, written }
  return stream
}

/** A stream that gives lines to `write` together. */
export function gatherLines(write: (lines: string) => unknown): { stream: DestinationStream; flush(): void } {
  let lines = ''
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const gathered = lines
    lines = ''
    if (gathered !== '') write(gathered)
  }
  const stream = {
    // So that pino says the level of each line.
    [symbols.needsMetadataGsym]: true as const,
    lastLevel: 0,
    write(line: string) {
      lines += line
      if (stream.lastLevel >= warning || lines.length >= gatherCharacters) flush()
      else timer ??= setTimeout(flush, gatherMs).unref()
    },
  }
  return { stream, flush }
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

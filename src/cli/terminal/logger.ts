import { relative } from 'node:path'
import { excerptOf } from '../../config/excerpt.ts'
import { positionInStack } from '../../config/load/stack-place.ts'
import type { Logger } from '../../core/logger.ts'
import { asCalled } from './called-as.ts'
import { errorColumns, fitExcerpt } from './excerpt.ts'
import { say } from './output.ts'
import { terminalLine, terminalText } from './text.ts'

export interface TerminalLoggerOptions {
  /** Warnings and errors only. */
  quiet?: boolean
  debug?: boolean
  /** Shows where in the user's code an error came from, with the lines around. */
  places?: boolean
  print?: (text: string, level: keyof Logger) => void
}

/** Prints each log message as one plain line on stderr, instead of JSON. */
export function terminalLogger(options: TerminalLoggerOptions = {}): Logger {
  const { quiet = false, debug = false, places = false, print = say } = options
  const line = (level: keyof Logger, label: string) => (fields: object, message?: string) => {
    const details = Object.entries(fields).map(([name, value]) => `${name}=${toText(value)}`)
    const text = terminalText(
      `${label}${[message && asCalled(message), ...details].filter((part) => part !== undefined).join(' ')}`,
    )
    const place = places ? Object.values(fields).map(showPlace).find(Boolean) : undefined
    print(place === undefined ? text : `${text}\n${place}`, level)
  }
  const nothing = () => {}
  return {
    debug: debug ? line('debug', 'debug: ') : nothing,
    info: quiet ? nothing : line('info', ''),
    warn: line('warn', 'warning: '),
    error: line('error', 'error: '),
  }
}

function toText(value: unknown): string {
  const text =
    value instanceof Error ? messageWithCause(value) : typeof value === 'string' ? value : JSON.stringify(value)
  return terminalLine(asCalled(text ?? ''))
}

/** The cause's message too, unless the error has repeated it. */
export function messageWithCause({ message, cause }: Error): string {
  return cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message
}

/** Where in the user's code an error was thrown, with the lines around; undefined when that is not known. */
export function showPlace(value: unknown): string | undefined {
  const place = positionInStack(value)
  if (place === undefined) return undefined
  const { file, line, column } = place
  const where = `  at ${relative(process.cwd(), file) || file}:${line}`
  const lines = excerptOf(file, line, column)
  // Two for the indent here, two for that of a run.
  const columns = errorColumns()
  const excerpt = lines && fitExcerpt(lines, columns && columns - 4).replace(/^/gm, '  ')
  return terminalText(excerpt === undefined ? where : `${where}\n${excerpt}`)
}

import type { Logger } from '../core/logger.ts'
import { say } from './output.ts'
import { terminalLine } from './terminal-text.ts'

/** One plain line on stderr for each message, instead of JSON; with `quiet` only what needs attention. */
export function terminalLogger({ quiet = false, debug = false } = {}): Logger {
  const line = (level: string) => (fields: object, message?: string) => {
    const details = Object.entries(fields).map(([name, value]) => `${name}=${toText(value)}`)
    say(`${level}${[message, ...details].filter((part) => part !== undefined).join(' ')}`)
  }
  const nothing = () => {}
  return {
    debug: debug ? line('debug: ') : nothing,
    info: quiet ? nothing : line(''),
    warn: line('warning: '),
    error: line('error: '),
  }
}

function toText(value: unknown): string {
  const text = value instanceof Error ? withCause(value) : typeof value === 'string' ? value : JSON.stringify(value)
  return terminalLine(text ?? '')
}

function withCause(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

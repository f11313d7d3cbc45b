import { isFinalEvent, type RunEvent } from '../../core/event.ts'
import type { Usage } from '../../core/run.ts'
import { exit } from '../command/exit-codes.ts'
import { formatDuration } from '../terminal/duration.ts'
import { formatFile, formatJson } from '../terminal/message-text.ts'
import { createTerminalFilter, terminalLine, terminalText } from '../terminal/text.ts'
import { formatCounts } from './counts.ts'
import { formatSource } from './source-line.ts'

const shownCharacters = 160

/** Following a run survives about half a minute without a server. */
export const followReconnects = 10

/** Turns a run's events into text: the answer unchanged, everything else in its own lines. */
export interface RunWriter {
  /** Empty for events that are not shown. */
  toText(event: RunEvent): string
  /** A line of the CLI's own, on a new line. */
  toLine(text: string): string
}

export function createRunWriter(): RunWriter {
  let filter = createTerminalFilter()
  let inLine = false
  let startedAt: number | undefined

  function toLine(text: string): string {
    const before = inLine ? '\n' : ''
    inLine = false
    filter = createTerminalFilter()
    return `${before}${text}\n`
  }

  return {
    toLine,
    toText(event) {
      startedAt ??= Date.parse(event.at)
      if (event.type === 'text_delta') {
        const text = filter(event.text)
        if (text !== '') inLine = !text.endsWith('\n')
        return text
      }
      const line = isFinalEvent(event) ? endLine(event, Date.parse(event.at) - startedAt) : lineOf(event)
      return line === undefined ? '' : toLine(line)
    },
  }
}

/** A failed, cancelled or waiting run is a failure. */
export function exitCodeOfEnd(event: RunEvent): number {
  return event.type === 'run_end' && event.status === 'completed' ? exit.ok : exit.failure
}

/** `812 (600 cached) + 96 tokens`. */
export function formatUsage({ input_tokens, output_tokens, cached_input_tokens: cached = 0 }: Usage): string {
  return `${input_tokens}${cached > 0 ? ` (${cached} cached)` : ''} + ${output_tokens} tokens`
}

/** With all that the provider reports. */
export function formatUsageDetails(usage: Usage): string {
  const {
    input_tokens,
    output_tokens,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    reasoning_tokens,
  } = usage
  const inputs = [
    ...(cached === undefined ? [] : [`${cached} cached`]),
    ...(written === undefined ? [] : [`${written} written to the cache`]),
  ]
  const input = inputs.length === 0 ? '' : ` (${inputs.join(', ')})`
  return `${input_tokens}${input} + ${output_tokens}${reasoning_tokens === undefined ? '' : ` (${reasoning_tokens} reasoning)`} tokens`
}

/** A value as JSON on one line, cut at `characters`. */
export function inShort(value: unknown, characters = shownCharacters): string {
  const line = terminalLine((JSON.stringify(value) ?? '').slice(0, characters * 4))
  return line.length > characters ? `${line.slice(0, characters)}…` : line
}

function endLine(event: Extract<RunEvent, { type: 'run_end' | 'run_error' }>, ms: number): string {
  if (event.type === 'run_error') return `✗ ${terminalLine(`${event.error.code}: ${event.error.message}`)}`
  const { status, usage, cache_hit: cached, cancellation_reason: reason } = event
  const why = reason === undefined ? '' : ` (${terminalLine(reason)})`
  const tokens = usage === null ? [] : [formatUsage(usage)]
  return ['■', status + why, formatDuration(Math.max(0, ms)), ...tokens, ...(cached ? ['from the cache'] : [])].join(
    '  ',
  )
}

function lineOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'data':
      return terminalText(formatJson(event.data))
    case 'file':
      return formatFile(event)
    case 'tool_call':
      return `→ ${terminalLine(event.name)} ${inShort(event.input)}`
    case 'tool_result': {
      const took = formatDuration(event.duration_ms)
      if (event.error !== undefined) return `✗ ${terminalLine(`${event.name}: ${event.error.message}`)}  ${took}`
      return `← ${terminalLine(event.name)} ${inShort(event.output)}  ${took}`
    }
    case 'retrieval':
      return `⌕ ${inShort(event.query)}  ${formatCounts(event.results, event.duration_ms)}`
    case 'source':
      return formatSource(event)
    case 'step_start':
      return `▸ ${terminalLine(event.name)}`
    case 'step_end':
      return event.error === undefined ? undefined : `✗ ${terminalLine(event.error.message)}`
    case 'input_required':
      return `? ${terminalLine(event.prompt)}`
    case 'run_resumed':
      return '▸ continues'
    default:
      return undefined
  }
}

import type { Client } from '../../client/client.ts'
import type { RunTrace, TracedCall, TracedToolCall } from '../../core/events/trace.ts'
import type { Json } from '../../core/json.ts'
import type { Cost } from '../../core/run.ts'
import { hint } from '../terminal/called-as.ts'
import { formatDuration } from '../terminal/duration.ts'
import { say, write } from '../terminal/output.ts'
import { terminalJson, terminalLine, terminalText } from '../terminal/text.ts'
import { formatCost } from './cost.ts'
import { formatRetrieval } from './retrieval.ts'
import { formatUsage } from './writer.ts'

const pageLimit = 20

/** Prints the input, the searches and the output of each model call of a run; as JSON one call per line, searches after the last call in a line of their own. Throws `run_not_found`. */
export async function printWhy(client: Client, runId: string, json: boolean, signal: AbortSignal): Promise<void> {
  let before: readonly string[] = []
  let number = 0
  for await (const { calls, retrievals, child_run_ids: children } of pages(client, runId, signal)) {
    for (const call of calls) {
      const messages = (Array.isArray(call.messages) ? call.messages : [call.messages]).map((one) =>
        JSON.stringify(one),
      )
      await write(json ? `${terminalJson(call)}\n` : formatCall(call, ++number, countSame(messages, before)))
      before = messages
    }
    if (retrievals.length > 0)
      await write(
        `${json ? terminalJson({ retrievals }) : retrievals.flatMap((retrieval) => formatRetrieval(retrieval)).join('\n')}\n`,
      )
    if (!json && calls.length === 0 && number === 0) say('The run called no model.')
    if (!json)
      for (const child of children) say(`The run of its team member: ${hint(`runs show ${terminalLine(child)} --why`)}`)
  }
}

async function* pages(client: Client, runId: string, signal: AbortSignal): AsyncGenerator<RunTrace> {
  for (let cursor: string | undefined; ; ) {
    const page = await client.runs.trace(runId, { limit: pageLimit, cursor, signal })
    // An older server gives no `retrievals`.
    const { retrievals = [] } = page as Partial<RunTrace>
    yield { ...page, retrievals, child_run_ids: page.next_cursor === null ? page.child_run_ids : [] }
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}

function countSame(messages: readonly string[], before: readonly string[]): number {
  let count = 0
  while (count < messages.length && messages[count] === before[count]) count++
  return count
}

function formatCall(call: TracedCall & { cost?: Cost | null }, number: number, same: number): string {
  const { model, finish_reason: reason, usage, cost, duration_ms: ms, first_text_ms: firstMs } = call
  const facts = [
    reason ?? 'still running',
    ...(usage === null ? [] : [formatUsage(usage), formatCost(cost)]),
    ...(ms === null ? [] : [formatDuration(ms)]),
    ...(firstMs === undefined ? [] : [`first text ${formatDuration(firstMs)}`]),
  ]
  const messages = Array.isArray(call.messages) ? call.messages.slice(same) : undefined
  return [
    `call ${number}  ${terminalLine(model)}  ${facts.map(terminalLine).join('  ')}`,
    ...(call.settings === null ? [] : [`  settings  ${terminalJson(call.settings)}`]),
    ...(Array.isArray(call.tools) ? [`  tools     ${call.tools.map(nameOf).join(', ')}`] : []),
    ...call.retrievals.flatMap((retrieval) => formatRetrieval(retrieval)),
    ...(same === 0 ? [] : [`  (the first ${same === 1 ? 'message' : `${same} messages`} as in the call before)`]),
    ...(messages ?? [call.messages]).flatMap(formatMessage),
    '  → answered',
    ...indented(call.reasoning, '    (reasoning) '),
    ...indented(call.text, '    '),
    ...call.tool_calls.flatMap(formatToolCall),
    '\n',
  ].join('\n')
}

function formatToolCall({ name, input, output, error, denied, duration_ms: ms }: TracedToolCall): string[] {
  const outcome =
    error !== undefined
      ? [`      ✗ ${denied ? 'denied: ' : ''}${terminalLine(error.message)}`]
      : output === undefined
        ? []
        : indented(textOf(output), '      ← ')
  return [
    `    → ${terminalLine(name)} ${terminalJson(input)}${ms === null ? '' : `  ${formatDuration(ms)}`}`,
    ...outcome,
  ]
}

/** A prompt message as text; any other value as JSON. */
function formatMessage(message: Json): string[] {
  if (message === null) return ['  The full prompt is no longer available.']
  if (typeof message !== 'object' || Array.isArray(message) || typeof message.role !== 'string')
    return [`  ${terminalJson(message)}`]
  const { role, content } = message
  const parts = Array.isArray(content) ? content.flatMap(formatPart) : indented(textOf(content ?? null), '    ')
  return [`  ${terminalLine(role)}`, ...parts]
}

function formatPart(part: Json): string[] {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return [`    ${terminalJson(part)}`]
  if (part.type === 'text' && typeof part.text === 'string') return indented(part.text, '    ')
  return [`    ${terminalJson(part)}`]
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function indented(text: string, margin: string): string[] {
  if (text === '') return []
  return [margin + terminalText(text).replaceAll('\n', `\n${' '.repeat(margin.length)}`)]
}

function nameOf(tool: Json): string {
  const name = typeof tool === 'object' && tool !== null && !Array.isArray(tool) ? tool.name : undefined
  return terminalLine(typeof name === 'string' ? name : JSON.stringify(tool))
}

import type { RunEvent } from '../../../core/event.ts'
import type { TracedCall } from '../../../core/events/trace.ts'
import { isJsonObject, type Json } from '../../../core/json.ts'
import { factsOf } from '../../../core/steps/facts.ts'
import type { Step } from '../../../core/steps/step.ts'
import { withoutBase64 } from '../../../core/text/base64.ts'
import { formatBytes, formatCost, formatMs, formatScore } from '../../../core/text/format.ts'
import type { RunDetail } from '../../../wire/run.ts'
import type { RunEvents } from '../../state/run/events.ts'

export interface WholeRun {
  run: RunDetail
  events: RunEvents
  /** By call id; undefined when the key may not see prompts. */
  calls: ReadonlyMap<string, TracedCall> | undefined
  link: string
}

/** Of one text: a model reads no more of it with profit. */
const longest = 20_000

/** A whole run as text for another model: what was asked, every step with what went in and came out, and how it ended. */
export function toMarkdown({ run, events, calls, link }: WholeRun): string {
  const asked = run.messages.filter(({ role }) => role === 'user')
  const took = events.durationMs
  const blocks = [
    `# Run of the ${run.entity_kind} ${run.entity_id}: ${run.status}`,
    [
      `- run: ${run.run_id}, session: ${run.session_id}`,
      `- began: ${run.created_at}, took: ${formatMs(took)}`,
      ...(run.usage === null ? [] : [`- tokens: ${run.usage.total_tokens}, cost: ${formatCost(run.cost)}`]),
      `- link: ${link}`,
      ...(calls === undefined ? ['- prompts: left out, they need the scope `prompts`'] : []),
    ].join('\n'),
    '## Question',
    ...asked.flatMap(({ parts }) => parts.map((part) => partOf(part as unknown as Json))),
    '## Steps',
    ...events.steps.flatMap((step, place) => (step.kind === 'run' ? [] : stepOf(step, place, events, calls))),
    '## Answer',
    run.content === '' ? 'None.' : fenced(run.content),
    ...run.sources.map(({ index, source, cited }) => `- [${index}] ${inline(source)}${cited ? '' : ' (not cited)'}`),
    ...(run.error === null ? [] : ['## Error', `${run.error.code}:`, fenced(run.error.message)]),
    ...(run.cancellation_reason === null ? [] : ['## Cancelled', fenced(run.cancellation_reason)]),
  ]
  return `${blocks.join('\n\n')}\n`
}

function stepOf(step: Step, place: number, events: RunEvents, calls: WholeRun['calls']): string[] {
  const head = `### ${place}. ${factsOf(step, events).map(inline).join(' · ')}`
  if (step.kind === 'model')
    return [head, `model: ${inline(step.label)}`, ...promptOf(step, events.calls, calls), ...gaveOf(step)]
  const child = step.childRunId === undefined ? [] : [`run inside: ${step.childRunId}`]
  return [
    head,
    ...(step.kind === 'step' ? [inline(step.label)] : []),
    ...child,
    ...events.of(step).flatMap((event) => eventOf(event, step)),
  ]
}

function promptOf({ callId = '', number = 0 }: Step, all: readonly Step[], calls: WholeRun['calls']): string[] {
  const told = calls?.get(callId)
  if (told === undefined) return []
  if (!Array.isArray(told.messages)) return ['Some messages of the prompt are gone.']
  const earlier = calls?.get(all[number - 2]?.callId ?? '')?.messages
  const before = Array.isArray(earlier) ? earlier.map((message) => JSON.stringify(message)) : []
  const differs = told.messages.findIndex((message, place) => JSON.stringify(message) !== before[place])
  const same = before.length === 0 ? 0 : differs === -1 ? told.messages.length : differs
  return [
    `#### Prompt of call ${number}`,
    ...(same === 0 ? [] : [`The first ${same} messages are those of call ${number - 1}.`]),
    ...told.messages.slice(same).flatMap(messageOf),
    ...(number === 1 && Array.isArray(told.tools) ? ['Tools:', fenced(told.tools, 'json')] : []),
  ]
}

function messageOf(message: Json): string[] {
  if (!isJsonObject(message)) return [fenced(message)]
  const { role, content = null } = message
  const parts = Array.isArray(content) ? content : [content]
  return [`${inline(String(role))}:`, ...parts.map(partOf)]
}

function partOf(part: Json): string {
  if (typeof part === 'string') return fenced(part)
  if (isJsonObject(part)) {
    if (part.type === 'text' && typeof part.text === 'string') return fenced(part.text)
    if (part.type === 'data') return fenced(part.data ?? null, 'json')
  }
  return fenced(part, 'json')
}

function gaveOf({ number, reasoning, parts, toolCalls }: Step): string[] {
  return [
    `#### What call ${number} gave`,
    ...(reasoning === '' ? [] : ['Reasoning:', fenced(reasoning)]),
    ...(parts.length === 0 && toolCalls.length === 0 ? ['Nothing.'] : []),
    ...parts.map((part) => partOf(part as unknown as Json)),
    ...toolCalls.map(({ name }) => `It called ${inline(name)}.`),
  ]
}

function eventOf(event: RunEvent, { kind }: Step): string[] {
  switch (event.type) {
    case 'retrieval':
      return [
        `Query: ${inline(event.query)}`,
        event.results
          .map(({ source, line_start, score, told }) => {
            const line = line_start === undefined ? '' : `:${line_start}`
            return `- ${formatScore(score)} ${inline(source)}${line}${told === false ? ' (not told)' : ''}`
          })
          .join('\n'),
      ].filter((block) => block !== '')
    case 'tool_call':
      return kind === 'tool' ? ['Input:', fenced(event.input, 'json')] : []
    case 'tool_result':
      if (kind !== 'tool') return []
      return [
        ...(event.error === undefined ? [] : ['Error:', fenced(event.error.message)]),
        ...(event.output === undefined ? [] : ['Output:', fenced(event.output, 'json')]),
      ]
    case 'step_end':
      return [
        ...(event.error === undefined ? [] : ['Error:', fenced(event.error.message)]),
        ...(event.output === undefined ? [] : ['Output:', fenced(event.output, 'json')]),
      ]
    case 'input_required':
      return kind === 'wait' ? [fenced(event.prompt)] : []
    case 'run_error':
      return [fenced(event.error.message)]
    default:
      return []
  }
}

/** On one line, and no markup. */
function inline(text: string): string {
  const line = withoutBase64(text).replaceAll(/\s+/g, ' ').trim()
  return line.replaceAll(/[\\`*_[\]<>#]/g, String.raw`\$&`).slice(0, 500)
}

/** A code block that nothing in the text ends. */
export function fenced(value: Json, language = ''): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, (_key, item) => cut(item), 2)
  const shown = typeof value === 'string' ? (cut(text) as string) : shorten(text)
  const runs = shown.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(3, ...runs.map(({ length }) => length + 1)))
  return `${fence}${typeof value === 'string' && language === 'json' ? '' : language}\n${shown}\n${fence}`
}

function cut(item: unknown): unknown {
  return typeof item === 'string' ? shorten(withoutBase64(item)) : item
}

function shorten(text: string): string {
  if (text.length <= longest) return text
  return `${text.slice(0, longest)}\n… (${formatBytes(text.length - longest)} left out)`
}

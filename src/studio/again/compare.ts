import type { RunEvent } from '../../core/event.ts'
import { isJsonObject, type Json, toText } from '../../core/json.ts'
import type { Cost, EventOf } from '../../core/steps/step.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { RunEvents } from '../state/run/events.ts'

/** What is compared of a run, as far as it is known. */
export interface RunFacts {
  ms: number
  input: number | undefined
  output: number | undefined
  cost: Cost | null
  models: string
}

export function factsOf({ run, events }: OpenedRun): RunFacts {
  const { usage: counted, durationMs, waitedMs, calls } = events
  const usage = run.value?.usage ?? counted
  const models = new Set(calls.map(({ label }) => label))
  return {
    ms: durationMs - waitedMs,
    input: usage?.input_tokens,
    output: usage?.output_tokens,
    cost: run.value?.cost ?? null,
    models: [...models].join(', '),
  }
}

/** `+71 %`, `the same`, `another`; nothing when one is not known, or when only the first is zero. */
export function changeOf(before: number | string | undefined, after: number | string | undefined): string {
  if (before === undefined || after === undefined) return ''
  if (before === after) return 'the same'
  if (typeof before === 'string' || typeof after === 'string') return 'another'
  if (before === 0) return ''
  const percent = Math.round(((after - before) / before) * 100)
  return percent === 0 ? 'about the same' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`
}

/** All that the run has said; data as JSON. */
export function textOf({ events }: OpenedRun): string {
  return events.parts
    .map((part) => (part.type === 'text' ? part.text : part.type === 'data' ? toText(part.data) : ''))
    .join('')
}

/** What one thing is in each run. Undefined: this run does not have it. */
interface Pair {
  name: string
  before?: string | undefined
  after?: string | undefined
}

export interface ToolPair extends Pair {
  input: string
}

/** The calls of tools of both runs; those of the same tool with the same input, in their order, are one. */
export function toolPairs(a: RunEvents, b: RunEvents): ToolPair[] {
  const pairs: ToolPair[] = []
  for (const [side, events] of [['before', a] as const, ['after', b] as const]) {
    for (const call of events.all) {
      if (call.type !== 'tool_call') continue
      const { name } = call
      const input = JSON.stringify(call.input)
      const result = resultOf(events, call.call_id, call.seq)
      const output = result?.error ? `Failed: ${result.error.message}` : result ? toText(result.output) : 'no result'
      const pair = pairs.find((one) => one.name === name && one.input === input && one[side] === undefined)
      if (pair === undefined) pairs.push({ name, input, [side]: output })
      else pair[side] = output
    }
  }
  return pairs
}

/** How the call of a tool ended of which the event `seq` tells. */
export function resultOf(events: RunEvents, callId = '', seq = 0): EventOf<'tool_result'> | undefined {
  return events.ofCall(callId, seq).find((event) => event.type === 'tool_result')
}

export type Hit = EventOf<'retrieval'>['results'][number]

/** The passages that the searches of a run found, by their ids. */
export function hitsOf(events: readonly RunEvent[]): ReadonlyMap<string, Hit> {
  const hits = events.flatMap((event) => (event.type === 'retrieval' ? event.results : []))
  return new Map(hits.map((hit) => [hit.chunk_id, hit]))
}

/** The messages of two prompts: those at the beginning and the end that are the same, then those between them by role, in order. */
export function messagePairs(a: readonly Json[], b: readonly Json[]): Pair[] {
  const pairs: Pair[] = []
  const [before, after] = [a.map(saidIn), b.map(saidIn)]
  const add = (one: Said | undefined, other: Said | undefined) =>
    pairs.push({ name: (one ?? other)?.role ?? '', before: one?.text, after: other?.text })
  while (isSame(before[0], after[0])) add(before.shift(), after.shift())
  while (isSame(before.at(-1), after.at(-1))) add(before.pop(), after.pop())
  for (const message of before) {
    const place = after.findIndex(({ role }) => role === message.role)
    for (const earlier of after.splice(0, place)) add(undefined, earlier)
    add(message, place === -1 ? undefined : after.shift())
  }
  for (const message of after) add(undefined, message)
  return pairs
}

interface Said {
  role: string
  text: string
}

function isSame(one: Said | undefined, other: Said | undefined): boolean {
  return one !== undefined && one.role === other?.role && one.text === other.text
}

/** A message of a prompt as text: what is said as it is, calls and results as JSON. */
function saidIn(message: Json): Said {
  if (!isJsonObject(message)) return { role: 'message', text: toText(message) }
  const { role, content } = message
  const parts = Array.isArray(content) ? content : [content ?? '']
  const texts = parts.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : toText(part)))
  return { role: String(role), text: texts.join('\n') }
}

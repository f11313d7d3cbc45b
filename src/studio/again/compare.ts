import { isJsonObject, type Json } from '../../core/json.ts'
import type { EventOf } from '../../core/steps/records.ts'
import type { Cost } from '../../core/steps/step.ts'
import type { RunEvent } from '../../wire/event.ts'
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
  const { usage: counted, durationMs, waitedMs } = events.steps.totals
  const usage = run.value?.usage ?? counted
  const models = new Set(events.all.flatMap((event) => (event.type === 'model_call_start' ? [event.model] : [])))
  return {
    ms: durationMs - waitedMs,
    input: usage?.input_tokens,
    output: usage?.output_tokens,
    cost: run.value?.cost ?? null,
    models: [...models].join(', '),
  }
}

/** `+71 %`, `the same`; nothing when one is not known, or when only the first is zero. */
export function changeOf(before: number | undefined, after: number | undefined): string {
  if (before === undefined || after === undefined) return ''
  if (before === after) return 'the same'
  if (before === 0) return ''
  const percent = Math.round(((after - before) / before) * 100)
  return percent === 0 ? 'about the same' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`
}

/** All that the run has said; data as JSON. */
export function textOf({ records: { parts } }: RunEvents): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text : part.type === 'data' ? toText(part.data) : ''))
    .join('')
}

/** A text as it is, all else as JSON that a person can read. */
export function toText(value: Json | undefined): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

export interface ToolPair {
  name: string
  input: string
  /** What it gave in each run. Undefined: it was not called, or has not ended. */
  outputs: [string | undefined, string | undefined]
  called: [boolean, boolean]
}

/** The calls of tools of both runs; those of the same tool with the same input, in their order, are one. */
export function toolPairs(a: readonly RunEvent[], b: readonly RunEvent[]): ToolPair[] {
  const pairs: ToolPair[] = []
  for (const [side, events] of [a, b].entries()) {
    for (const call of events) {
      if (call.type !== 'tool_call') continue
      const input = toText(call.input)
      const isIt = (pair: ToolPair) => pair.name === call.name && pair.input === input && !pair.called[side]
      let pair = pairs.find(isIt)
      if (pair === undefined) {
        pair = { name: call.name, input, outputs: [undefined, undefined], called: [false, false] }
        pairs.push(pair)
      }
      pair.called[side] = true
      pair.outputs[side] = outputOf(events.find((event) => isResult(event, call.call_id)))
    }
  }
  return pairs
}

function isResult(event: RunEvent, callId: string): event is EventOf<'tool_result'> {
  return event.type === 'tool_result' && event.call_id === callId
}

function outputOf(event: RunEvent | undefined): string | undefined {
  if (event?.type !== 'tool_result') return undefined
  return event.error === undefined ? toText(event.output) : `Failed: ${event.error.message}`
}

type Hit = EventOf<'retrieval'>['results'][number]

/** A passage, and how each run's searches found it. */
export type PassagePair = [a: Hit | undefined, b: Hit | undefined]

export function passagePairs(a: readonly RunEvent[], b: readonly RunEvent[]): PassagePair[] {
  const [ofA, ofB] = [a, b].map(
    (events) =>
      new Map(
        events.flatMap((event) =>
          event.type === 'retrieval' ? event.results.map((hit): [string, Hit] => [hit.chunk_id, hit]) : [],
        ),
      ),
  )
  const ids = new Set([...(ofA?.keys() ?? []), ...(ofB?.keys() ?? [])])
  return [...ids].map((id) => [ofA?.get(id), ofB?.get(id)])
}

export interface MessagePair {
  role: string
  before: string | undefined
  after: string | undefined
}

/** The messages of two prompts: those at the beginning and the end that are the same, and between them by role, in order. */
export function messagePairs(a: readonly Json[], b: readonly Json[]): MessagePair[] {
  const [one, other] = [a.map(saidIn), b.map(saidIn)]
  const isSame = (x: Said | undefined, y: Said | undefined) => x?.role === y?.role && x?.text === y?.text
  const shorter = Math.min(one.length, other.length)
  let first = 0
  while (first < shorter && isSame(one[first], other[first])) first++
  let last = 0
  while (last < shorter - first && isSame(one.at(-1 - last), other.at(-1 - last))) last++
  const same = ({ role, text }: Said): MessagePair => ({ role, before: text, after: text })
  const left = other.slice(first, other.length - last)
  const between: MessagePair[] = []
  for (const { role, text } of one.slice(first, one.length - last)) {
    const place = left.findIndex((message) => message.role === role)
    if (place < 0) between.push({ role, before: text, after: undefined })
    else {
      const earlier = left.splice(0, place + 1)
      const partner = earlier.pop()
      between.push(...earlier.map((message) => ({ role: message.role, before: undefined, after: message.text })))
      between.push({ role, before: text, after: partner?.text })
    }
  }
  between.push(...left.map((message) => ({ role: message.role, before: undefined, after: message.text })))
  return [...one.slice(0, first).map(same), ...between, ...one.slice(one.length - last).map(same)]
}

interface Said {
  role: string
  text: string
}

/** A message of a prompt as text: what is said as it is, calls and results as JSON. */
function saidIn(message: Json): Said {
  if (!isJsonObject(message)) return { role: 'message', text: toText(message) }
  const { role, content } = message
  const parts = Array.isArray(content) ? content : [content ?? '']
  const texts = parts.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : toText(part)))
  return { role: String(role), text: texts.join('\n') }
}

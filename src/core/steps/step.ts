import type { RunEvent } from '../event.ts'
import type { Json } from '../json.ts'
import type { Part } from '../message.ts'
import type { CallAnswer, Usage } from '../run.ts'

export type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>
export type StepKind = 'run' | 'search' | 'model' | 'tool' | 'step' | 'wait' | 'end'
export type Cost = NonNullable<EventOf<'model_call_end'>['cost']>

/** A row of the waterfall: something that took time, or a moment. */
export interface Step {
  /** The first of its events. */
  event: RunEvent
  /** The last of its events, once it has ended: times may be the same. */
  end?: RunEvent | undefined
  /** Of its first event: names it in addresses. */
  seq: number
  kind: StepKind
  label: string
  depth: number
  /** In ms since the run began. */
  startMs: number
  /** Undefined while it is under way. */
  endMs: number | undefined
  /** When the first text of a model call came, in ms since the run began. */
  textMs?: number
  state: 'running' | 'done' | 'failed' | 'waiting' | 'cancelled'
  /** The process ended while it was under way. */
  isCut?: boolean
  /** Of a model call, or of the run inside. */
  usage?: Usage | null | undefined
  /** Of all steps below. */
  usageInside?: Usage
  /** Null: not known. Absent: it is none of its own. */
  cost?: Cost | null
  /** How many passages, what a tool gave in short, or what went wrong. */
  note?: string | undefined
  /** What a tool gives while it works, in short. */
  progress?: string
  /** Of a model call: which of the run's it is, from 1. */
  number?: number
  /** From 2, of a model call that is made again after one that failed. */
  attempt?: number
  /** Of a tool call: how often the same tool had failed with the same input. */
  failuresBefore?: number
  /** What a model call gave. */
  parts: Part[]
  reasoning: string
  toolCalls: EventOf<'tool_call'>[]
  /** What was found for a model call since the one before, or by a search. */
  searches: EventOf<'retrieval'>[]
  /** Of a call, a step or a question. */
  callId: string | undefined
  /** The run that works inside the step. */
  childRunId?: string
  /** The id of the step that the code of a workflow reached before. */
  after: string | undefined
  parent: Step | undefined
  below: Step[]
  /** Grows when something in it changes. */
  version: number
}

/** What a run asked a person, and what it was told. */
export interface Exchange {
  asked: EventOf<'input_required'>
  /** Undefined while nobody has answered. */
  given: CallAnswer | undefined
}

/** A time without work, in ms since the run began. */
export interface Pause {
  fromMs: number
  toMs: number
}

const details = ['cached_input_tokens', 'cache_write_tokens', 'reasoning_tokens'] as const

export function sumUsage(one: Usage | null | undefined, other: Usage): Usage {
  const sum: Usage = {
    input_tokens: (one?.input_tokens ?? 0) + other.input_tokens,
    output_tokens: (one?.output_tokens ?? 0) + other.output_tokens,
    total_tokens: (one?.total_tokens ?? 0) + other.total_tokens,
  }
  for (const detail of details) {
    const [a, b] = [one?.[detail], other[detail]]
    if (a !== undefined || b !== undefined) sum[detail] = (a ?? 0) + (b ?? 0)
  }
  return sum
}

/** Null when one of them is not known, or there are none. */
export function sumCost(costs: readonly (Cost | null | undefined)[]): Cost | null {
  const known = costs.filter((cost) => cost !== null && cost !== undefined)
  if (known.length === 0 || known.length < costs.length) return null
  const usd = known.reduce((sum, cost) => sum + cost.usd, 0)
  const as_of = known.map((cost) => cost.as_of).reduce((one, other) => ((other ?? '') > (one ?? '') ? other : one))
  return { usd, as_of, ...(known.every(({ local }) => local === true) && { local: true }) }
}

/** The call or step that an event is of. */
export function idOf(event: RunEvent): string | undefined {
  return 'step_id' in event ? event.step_id : 'call_id' in event ? event.call_id : undefined
}

/** The tool that was called, and its input. */
export function whatOf(event: RunEvent): string {
  return event.type === 'tool_call' ? JSON.stringify([event.name, event.input]) : ''
}

/** A step that begins. */
export function stepOf(event: RunEvent, kind: StepKind, label: string, startMs: number, parent?: Step): Step {
  return {
    event,
    seq: event.seq,
    kind,
    label,
    depth: parent === undefined ? 0 : parent.depth + 1,
    startMs,
    endMs: undefined,
    state: 'running',
    callId: idOf(event),
    after: 'after' in event ? event.after : undefined,
    parent,
    below: [],
    version: 0,
    parts: [],
    reasoning: '',
    toolCalls: [],
    searches: [],
  }
}

export function change(step: Step | undefined, what: Partial<Step>): void {
  if (step !== undefined) Object.assign(step, what).version++
}

const shortest = 80

export function inShort(value: Json): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > shortest ? `${text.slice(0, shortest)}…` : text
}

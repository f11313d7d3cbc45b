import type { RunEvent } from '../event.ts'
import type { Json } from '../json.ts'
import type { RunStatus, Usage } from '../run.ts'

export type StepKind = 'run' | 'search' | 'model' | 'tool' | 'step' | 'wait' | 'end'
export type Cost = NonNullable<Extract<RunEvent, { type: 'model_call_end' }>['cost']>

/** A row of the waterfall: something that took time, or a moment. */
export interface Step {
  /** Of its first event: names it in addresses. */
  seq: number
  kind: StepKind
  label: string
  depth: number
  /** In ms since the run began. */
  startMs: number
  /** Undefined while it is under way. */
  endMs: number | undefined
  /** Of its last event: times may be the same. */
  endSeq?: number
  /** When the first text of a model call came, in ms since the run began. */
  textMs?: number
  state: 'running' | 'done' | 'failed' | 'waiting' | 'cancelled'
  /** The process ended while it was under way. */
  isCut?: true
  /** Of a model call, or of the run inside. */
  usage?: Usage | null
  /** Of all steps below. */
  usageInside?: Usage
  /** Null: not known. Absent: it is none of its own. */
  cost?: Cost | null
  /** How many passages, what a tool gave in short, or what went wrong. */
  note?: string
  /** What a tool gives while it works, in short. */
  progress?: string
  /** From 2, of a model call that is made again after one that failed. */
  attempt?: number
  callId?: string
  /** The run that works inside the step. */
  childRunId?: string
  /** The id of the step that the code of a workflow reached before. */
  after?: string
  parent?: Step
  below: Step[]
  /** Grows when something in it changes. */
  version: number
}

export interface RunTotals {
  status: RunStatus | undefined
  error: { code: string; message: string } | undefined
  usage: Usage | null
  durationMs: number
  /** How much of it the run waited for a person, or for its process. */
  waitedMs: number
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

export function change(step: Step, what: Partial<Step>): Step {
  step.version++
  return Object.assign(step, what)
}

const shortest = 80

export function inShort(value: Json): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > shortest ? `${text.slice(0, shortest)}…` : text
}

import type { Json } from '../../core/json.ts'
import type { RunStatus, Usage } from '../../core/run.ts'
import type { RunEvent } from '../../wire/event.ts'

export type StepKind = 'run' | 'search' | 'model' | 'tool' | 'step' | 'wait' | 'end'

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
  /** When the first text of a model call came, in ms since the run began. */
  textMs?: number
  state: 'running' | 'done' | 'failed' | 'waiting' | 'cancelled'
  usage?: Usage | null
  /** How many passages, or what a tool gave in short. */
  note?: string
  callId?: string
  /** The run that works inside the step. */
  childRunId?: string
}

export interface RunTotals {
  status: RunStatus | undefined
  error: { code: string; message: string } | undefined
  usage: Usage | null
  durationMs: number
}

/**
 * A run's steps, folded from its events, each of which is looked at once: drawing costs nothing however long the run is. Text
 * is no row.
 */
export class RunSteps {
  readonly steps: Step[] = []
  totals: RunTotals = { status: undefined, error: undefined, usage: null, durationMs: 0 }
  #began: number | undefined
  /** By call or step id. */
  readonly #open = new Map<string, Step>()
  #root: Step | undefined

  add(event: RunEvent): void {
    const at = Date.parse(event.at)
    this.#began ??= at
    const ms = Math.max(0, at - this.#began)
    this.totals.durationMs = Math.max(this.totals.durationMs, ms)
    switch (event.type) {
      case 'run_start':
        this.#root = this.#push({ ...event, kind: 'run', label: event.entity_id, ms })
        this.totals.status = 'running'
        return
      case 'run_resumed':
        this.totals.status = 'running'
        this.#answerWaits(ms)
        if (this.#root !== undefined) Object.assign(this.#root, { endMs: undefined, state: 'running' })
        return
      case 'retrieval': {
        const took = event.duration_ms ?? 0
        const step = this.#push({ ...event, kind: 'search', label: event.query, ms: Math.max(0, ms - took) })
        const told = event.results.filter((result) => result.told !== false).length
        Object.assign(step, { endMs: ms, state: 'done', note: event.abstained ? 'silent' : String(told) })
        return
      }
      case 'model_call_start':
        this.#begin(event.call_id, { ...event, kind: 'model', label: event.model, ms })
        return
      case 'model_call_end': {
        const step = this.#end(event.call_id, ms, event.finish_reason === 'error' ? 'failed' : 'done')
        if (step === undefined) return
        step.usage = event.usage
        if (event.first_text_ms !== undefined) step.textMs = step.startMs + event.first_text_ms
        if (event.usage !== null) this.totals.usage = sum(this.totals.usage, event.usage)
        return
      }
      case 'tool_call':
        this.#begin(event.call_id, { ...event, kind: 'tool', label: event.name, ms }).note = inShort(event.input)
        return
      case 'tool_result': {
        const step = this.#end(event.call_id, ms, event.error === undefined ? 'done' : 'failed')
        if (step !== undefined && event.error !== undefined) step.note = event.error.message
        return
      }
      case 'step_start': {
        const parent = event.parent_id === undefined ? undefined : this.#open.get(event.parent_id)
        const step = this.#begin(event.step_id, { ...event, kind: 'step', label: event.name, ms }, parent)
        if (event.child_run_id !== undefined) step.childRunId = event.child_run_id
        return
      }
      case 'step_end': {
        const state = event.status === 'completed' ? 'done' : event.status
        const step = this.#end(event.step_id, ms, state)
        if (step === undefined) return
        if (event.usage !== undefined) {
          step.usage = event.usage
          this.totals.usage = sum(this.totals.usage, event.usage)
        }
        if (event.error !== undefined) step.note = event.error.message
        return
      }
      case 'input_required': {
        const step = this.#push({ ...event, kind: 'wait', label: event.tool ?? event.prompt, ms })
        step.state = 'waiting'
        if (event.call_id !== undefined) step.callId = event.call_id
        return
      }
      case 'run_end':
      case 'run_error':
        this.#finish(event, ms)
    }
  }

  #finish(event: Extract<RunEvent, { type: 'run_end' | 'run_error' }>, ms: number): void {
    const failed = event.type === 'run_error'
    this.totals.status = failed ? 'failed' : event.status
    this.totals.error = failed ? event.error : undefined
    const state =
      failed || event.status === 'interrupted' ? 'failed' : event.status === 'cancelled' ? 'cancelled' : 'done'
    const waits = !failed && event.status === 'input_required'
    for (const step of this.#open.values()) if (!waits) Object.assign(step, { endMs: ms, state })
    if (!waits) this.#open.clear()
    if (this.#root !== undefined) Object.assign(this.#root, { endMs: ms, state: waits ? 'waiting' : state })
    if (waits) return
    const label = failed ? event.error.message : event.status
    Object.assign(this.#push({ ...event, kind: 'end', label, ms }), { endMs: ms, state })
  }

  #answerWaits(ms: number): void {
    for (const step of this.steps) {
      if (step.kind === 'wait' && step.state === 'waiting') Object.assign(step, { endMs: ms, state: 'done' })
    }
  }

  #push(from: { seq: number; kind: StepKind; label: string; ms: number }, parent?: Step): Step {
    const { seq, kind, label, ms } = from
    const depth = kind === 'run' ? 0 : (parent?.depth ?? 0) + 1
    const step: Step = { seq, kind, label, depth, startMs: ms, endMs: undefined, state: 'running' }
    this.steps.push(step)
    return step
  }

  #begin(id: string, from: { seq: number; kind: StepKind; label: string; ms: number }, parent?: Step): Step {
    const step = this.#push(from, parent)
    step.callId = id
    this.#open.set(id, step)
    return step
  }

  #end(id: string, ms: number, state: Step['state']): Step | undefined {
    const step = this.#open.get(id)
    if (step === undefined) return undefined
    this.#open.delete(id)
    return Object.assign(step, { endMs: ms, state })
  }
}

const shortest = 80

function inShort(value: Json): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > shortest ? `${text.slice(0, shortest)}…` : text
}

function sum(one: Usage | null, other: Usage): Usage {
  return {
    input_tokens: (one?.input_tokens ?? 0) + other.input_tokens,
    output_tokens: (one?.output_tokens ?? 0) + other.output_tokens,
    total_tokens: (one?.total_tokens ?? 0) + other.total_tokens,
  }
}

import { memberToolName } from '../again/plan.ts'
import type { RunEvent } from '../event.ts'
import type { Usage } from '../run.ts'
import { change, inShort, type Pause, type RunTotals, type Step, type StepKind, sumUsage } from './step.ts'

export type { Cost, Pause, RunTotals, Step, StepKind } from './step.ts'

type Event<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>
type From = { seq: number; kind: StepKind; label: string; ms: number }

/**
 * A run's steps, folded from its events, each of which is looked at once: drawing costs nothing however long the run is. Text
 * is no row.
 */
export class RunSteps {
  readonly steps: Step[] = []
  pauses: readonly Pause[] = []
  totals: RunTotals = { status: undefined, error: undefined, usage: null, durationMs: 0, waitedMs: 0 }
  /** In ms since 1970; undefined before the first event. */
  began: number | undefined
  root: Step | undefined
  /** By call or step id: all that have begun. */
  readonly #byId = new Map<string, Step>()
  readonly #open = new Set<Step>()
  #pausedMs: number | undefined
  /** Model calls that failed one after the other. */
  #failures = 0

  /** Whether anything that is drawn has changed: the text of a model changes nothing after its first piece. */
  add(event: RunEvent): boolean {
    const at = Date.parse(event.at)
    this.began ??= at
    // What tells of an interruption was written when the server was there again.
    const isLate = event.type === 'run_end' && event.status === 'interrupted'
    const ms = isLate ? this.totals.durationMs : Math.max(0, at - this.began)
    this.totals.durationMs = Math.max(this.totals.durationMs, ms)
    switch (event.type) {
      case 'run_start':
        this.root = this.#push({ ...event, kind: 'run', label: event.entity_id, ms })
        this.totals.status = 'running'
        return true
      case 'run_resumed':
        this.#goOn(event, ms)
        return true
      case 'retrieval':
        this.#search(event, ms)
        return true
      case 'model_call_start': {
        const step = this.#begin(event.call_id, { ...event, kind: 'model', label: event.model, ms })
        if (this.#failures > 0) step.attempt = this.#failures + 1
        return true
      }
      case 'text_delta':
      case 'reasoning_delta':
        return this.#said(ms)
      case 'model_call_end':
        this.#called(event, ms)
        return true
      case 'model_fallback': {
        const step = this.#byId.get(event.call_id)
        if (step !== undefined) change(step, { note: event.reason })
        return step !== undefined
      }
      case 'tool_call':
        this.#begin(event.call_id, { ...event, kind: 'tool', label: event.name, ms }).note = inShort(event.input)
        return true
      case 'tool_progress': {
        const step = this.#byId.get(event.call_id)
        if (step !== undefined) change(step, { progress: inShort(event.output) })
        return step !== undefined
      }
      case 'tool_result': {
        const step = this.#end(event.call_id, event.seq, ms, event.error === undefined ? 'done' : 'failed')
        if (step !== undefined && event.error !== undefined) step.note = event.error.message
        if (step !== undefined && event.denied === true) step.note = 'refused'
        return true
      }
      case 'step_start':
        this.#stepBegan(event, ms)
        return true
      case 'step_end':
        this.#stepEnded(event, ms)
        return true
      case 'input_required': {
        const step = this.#push({ ...event, kind: 'wait', label: event.tool ?? event.prompt, ms })
        step.state = 'waiting'
        if (event.call_id !== undefined) step.callId = event.call_id
        if (event.after !== undefined) step.after = event.after
        if (event.call_id !== undefined && !this.#byId.has(event.call_id)) this.#byId.set(event.call_id, step)
        return true
      }
      case 'run_end':
      case 'run_error':
        this.#finish(event, ms)
        return true
      default:
        return false
    }
  }

  #search(event: Event<'retrieval'>, ms: number): void {
    const took = event.duration_ms ?? 0
    const step = this.#push({ ...event, kind: 'search', label: event.query, ms: Math.max(0, ms - took) })
    const told = event.results.filter((result) => result.told !== false).length
    change(step, { endMs: ms, endSeq: event.seq, state: 'done', note: event.abstained ? 'silent' : String(told) })
  }

  /** A piece of text or reasoning: of the call that began last. */
  #said(ms: number): boolean {
    let call: Step | undefined
    for (const step of this.#open) if (step.kind === 'model') call = step
    if (call === undefined || call.textMs !== undefined) return false
    change(call, { textMs: ms })
    return true
  }

  #called(event: Event<'model_call_end'>, ms: number): void {
    const isFailed = event.finish_reason === 'error'
    this.#failures = isFailed ? this.#failures + 1 : 0
    const step = this.#end(event.call_id, event.seq, ms, isFailed ? 'failed' : 'done')
    this.#used(step, event.usage)
    if (step === undefined) return
    change(step, { usage: event.usage, cost: event.cost ?? null })
    if (event.first_text_ms !== undefined) step.textMs = step.startMs + event.first_text_ms
    const isUsual = event.finish_reason === 'stop' || event.finish_reason === 'tool-calls'
    const words = [
      isUsual ? '' : event.finish_reason,
      event.refused ? 'refused' : '',
      event.repeated ? 'from the record' : '',
    ]
    const note = words.filter((word) => word !== '').join(', ')
    if (note !== '') step.note = note
  }

  #stepBegan(event: Event<'step_start'>, ms: number): void {
    // A step that waited, or whose process ended, begins again.
    const known = this.#byId.get(event.step_id)
    const parent = event.parent_id === undefined ? this.#callOfMember(event) : this.#byId.get(event.parent_id)
    const step = known ?? this.#begin(event.step_id, { ...event, kind: 'step', label: event.name, ms }, parent)
    if (known !== undefined) {
      delete known.isCut
      change(known, { endMs: undefined, state: 'running' })
      this.#open.add(known)
    }
    if (event.child_run_id !== undefined) step.childRunId = event.child_run_id
    if (event.after !== undefined) step.after = event.after
  }

  /** The call by which the model that leads a team asked the member. */
  #callOfMember({ name, child_run_id: child }: Event<'step_start'>): Step | undefined {
    if (child === undefined) return undefined
    const tool = memberToolName(name)
    for (const step of this.#open)
      if (step.kind === 'tool' && step.label === tool && step.below.length === 0) return step
    return undefined
  }

  #stepEnded(event: Event<'step_end'>, ms: number): void {
    const step = this.#end(event.step_id, event.seq, ms, event.status === 'completed' ? 'done' : event.status)
    this.#used(step, event.usage ?? null)
    if (step === undefined) return
    if (event.usage !== undefined) step.usage = event.usage
    if (event.error !== undefined) step.note = event.error.message
  }

  #used(step: Step | undefined, usage: Usage | null): void {
    if (usage === null) return
    this.totals.usage = sumUsage(this.totals.usage, usage)
    for (let outer = step?.parent; outer !== undefined && outer.kind !== 'run'; outer = outer.parent)
      change(outer, { usageInside: sumUsage(outer.usageInside, usage) })
  }

  #finish(event: Event<'run_end' | 'run_error'>, ms: number): void {
    const failed = event.type === 'run_error'
    const status = failed ? 'failed' : event.status
    this.totals.status = status
    this.totals.error = failed ? event.error : undefined
    const state = failed || status === 'interrupted' ? 'failed' : status === 'cancelled' ? 'cancelled' : 'done'
    const waits = status === 'input_required'
    if (waits || status === 'interrupted') this.#pausedMs = ms
    const cut = status === 'interrupted' ? { isCut: true as const } : {}
    for (const step of this.#open)
      change(step, waits ? { state: 'waiting' } : { endMs: ms, endSeq: event.seq, state, ...cut })
    if (!waits) this.#open.clear()
    if (this.root !== undefined) change(this.root, { endMs: ms, state: waits ? 'waiting' : state, ...cut })
    if (waits) return
    const label = failed ? event.error.message : status
    const end = this.#push({ ...event, kind: 'end', label, ms })
    change(end, { endMs: ms, state })
    if (!failed && event.cancellation_reason !== undefined) end.note = event.cancellation_reason
  }

  #goOn({ paused, from, seq }: Event<'run_resumed'>, ms: number): void {
    this.totals.status = 'running'
    const recorded = paused === undefined ? undefined : Math.max(0, Date.parse(paused.at) - (this.began ?? 0))
    const lastMs = this.steps.reduce((last, step) => Math.max(last, step.endMs ?? step.startMs), 0)
    const fromMs = Math.min(
      ms,
      from === 'interrupted' ? (this.#pausedMs ?? lastMs) : (recorded ?? this.#pausedMs ?? lastMs),
    )
    this.#pausedMs = undefined
    this.pauses = [...this.pauses, { fromMs, toMs: ms }]
    this.totals.waitedMs += ms - fromMs
    for (const step of this.steps) {
      if (step.state !== 'waiting') continue
      change(step, step.kind === 'wait' ? { endMs: ms, endSeq: seq, state: 'done' } : { state: 'running' })
    }
    if (this.root === undefined) return
    delete this.root.isCut
    change(this.root, { endMs: undefined, state: 'running' })
  }

  #push({ seq, kind, label, ms }: From, parent = this.root): Step {
    const depth = parent === undefined ? (kind === 'run' ? 0 : 1) : parent.depth + 1
    const step: Step = {
      seq,
      kind,
      label,
      depth,
      startMs: ms,
      endMs: undefined,
      state: 'running',
      below: [],
      version: 0,
    }
    if (parent !== undefined) {
      step.parent = parent
      parent.below.push(step)
    }
    this.steps.push(step)
    return step
  }

  #begin(id: string, from: From, parent?: Step): Step {
    const step = this.#push(from, parent)
    step.callId = id
    this.#byId.set(id, step)
    this.#open.add(step)
    return step
  }

  #end(id: string, endSeq: number, ms: number, state: Step['state']): Step | undefined {
    const step = this.#byId.get(id)
    if (step === undefined || !this.#open.delete(step)) return undefined
    return change(step, { endMs: ms, endSeq, state })
  }
}

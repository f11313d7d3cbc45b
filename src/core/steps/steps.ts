import { memberToolName } from '../again/plan.ts'
import type { RunEvent } from '../event.ts'
import { addToParts, type Part } from '../message.ts'
import type { RunStatus, Usage } from '../run.ts'
import { answerTo } from '../waiting.ts'
import {
  change,
  type EventOf,
  type Exchange,
  idOf,
  inShort,
  type Pause,
  type Step,
  type StepKind,
  stepOf,
  sumUsage,
  whatOf,
} from './step.ts'

type Ending = EventOf<'model_call_end' | 'tool_result' | 'step_end'>

/**
 * A run's steps and its answer, folded from its events, each of which is looked at once: drawing costs nothing however long the run
 * is. Text is no row, and its events are not kept.
 */
export class RunSteps {
  readonly steps: Step[] = []
  /** Those that call a model. */
  readonly calls: Step[] = []
  /** By call or step id: all that have begun. */
  readonly byId = new Map<string | undefined, Step>()
  /** What all calls gave. */
  readonly parts: Part[] = []
  reasoning = ''
  readonly sources: EventOf<'source'>[] = []
  readonly exchanges: Exchange[] = []
  pauses: readonly Pause[] = []
  status: RunStatus | undefined
  durationMs = 0
  /** How much of it the run waited for a person, or for its process. */
  waitedMs = 0
  /** In ms since 1970; undefined before the first event. */
  began: number | undefined
  /** Of the last event. */
  seq = 0
  /** Grows with each event, also with a piece of text: a signal where it is drawn. */
  readonly changes: { value: number } = { value: 0 }
  /** Since the last model call. */
  #searches: EventOf<'retrieval'>[] = []
  /** Model calls that failed one after the other. */
  #failures = 0
  readonly #openTools = new Set<Step>()
  /** By the tool and its input: how often they failed. */
  readonly #failedTools = new Map<string, number>()

  /** The run itself, which the first event of all begins. */
  get root(): Step | undefined {
    return this.steps[0]
  }

  get usage(): Usage | null {
    return this.root?.usageInside ?? null
  }

  /** The run has said how it ended or paused. */
  get isOver(): boolean {
    return this.status !== undefined && this.status !== 'running'
  }

  /** What to look at first in a run that has failed: the step in which it happened, or else its end. */
  get failed(): Step | undefined {
    const failed = this.steps.findLast(({ kind, state }) => state === 'failed' && kind !== 'run' && kind !== 'end')
    return failed ?? this.steps.at(-1)
  }

  /** The event that tells how the passage was found. */
  foundAt({ chunk_id, seq }: EventOf<'source'>): number {
    const has = ({ results }: EventOf<'retrieval'>) => results.some((result) => result.chunk_id === chunk_id)
    return this.steps.findLast(({ kind, searches }) => kind === 'search' && searches.some(has))?.seq ?? seq
  }

  /**
   * Adds a live event. The stream may still hand over what comes late in a run that is only now followed from its beginning: with
   * it the events between would be lost.
   */
  receive(event: RunEvent): boolean {
    return (this.seq > 0 || event.seq === 1) && this.add(event)
  }

  /**
   * Whether anything that is drawn of the steps has changed: the text of a model changes nothing after its first piece, and an
   * event that is known already nothing at all.
   */
  add(event: RunEvent): boolean {
    if (event.seq <= this.seq) return false
    this.seq = event.seq
    const isDrawnAnew = this.#fold(event)
    // Last, since effects look at once.
    this.changes.value++
    return isDrawnAnew
  }

  #fold(event: RunEvent): boolean {
    const at = Date.parse(event.at)
    this.began ??= at
    const lastMs = this.durationMs
    // What tells of an interruption was written when the server was there again.
    const isLate = event.type === 'run_end' && event.status === 'interrupted'
    if (!isLate) this.durationMs = Math.max(lastMs, at - this.began)
    switch (event.type) {
      case 'run_start':
        this.#push(event, 'run', event.entity_id)
        this.status = 'running'
        return true
      case 'run_resumed':
        this.#goOn(event, lastMs)
        return true
      case 'retrieval':
        this.#search(event)
        return true
      case 'source':
        this.sources.push(event)
        return false
      case 'model_call_start': {
        const step = this.#begin(event, 'model', event.model)
        step.number = this.calls.push(step)
        step.searches = this.#searches
        this.#searches = []
        if (this.#failures > 0) step.attempt = this.#failures + 1
        return true
      }
      case 'text_delta':
      case 'reasoning_delta':
      case 'data':
      case 'file':
        return this.#said(event)
      case 'model_call_end':
        this.#called(event)
        return true
      case 'model_fallback':
        change(this.byId.get(event.call_id), { note: event.reason })
        return true
      case 'tool_call': {
        const step = this.#begin(event, 'tool', event.name)
        step.note = inShort(event.input)
        step.failuresBefore = this.#failedTools.get(whatOf(event)) ?? 0
        this.calls.at(-1)?.toolCalls.push(event)
        this.#openTools.add(step)
        return true
      }
      case 'tool_progress':
        change(this.byId.get(event.call_id), { progress: inShort(event.output) })
        return true
      case 'tool_result':
        this.#gave(event)
        return true
      case 'step_start':
        this.#stepBegan(event)
        return true
      case 'step_end':
        this.#end(event, event.status === 'completed' ? 'done' : event.status, event.error?.message)
        return true
      case 'input_required': {
        const step = this.#push(event, 'wait', event.tool ?? event.prompt)
        step.state = 'waiting'
        this.exchanges.push({ asked: event, given: undefined })
        if (event.call_id !== undefined && !this.byId.has(event.call_id)) this.byId.set(event.call_id, step)
        return true
      }
      case 'run_end':
      case 'run_error':
        this.#finish(event)
        return true
      default:
        return false
    }
  }

  #search(event: EventOf<'retrieval'>): void {
    const endMs = this.durationMs
    const startMs = Math.max(0, endMs - (event.duration_ms ?? 0))
    const told = event.results.filter((result) => result.told !== false).length
    const note = event.abstained ? 'silent' : String(told)
    const step = this.#push(event, 'search', event.query)
    change(step, { startMs, endMs, end: event, state: 'done', note, searches: [event] })
    this.#searches.push(event)
  }

  /** Of the call that began last. */
  #said(event: EventOf<'text_delta' | 'reasoning_delta' | 'data' | 'file'>): boolean {
    const call = this.calls.at(-1)
    for (const said of [this, call]) {
      if (said === undefined) continue
      if (event.type === 'reasoning_delta') said.reasoning += event.text
      else addToParts(said.parts, event)
    }
    if (!('text' in event) || call === undefined || call.endMs !== undefined || call.textMs !== undefined) return false
    change(call, { textMs: this.durationMs })
    return true
  }

  #gave(event: EventOf<'tool_result'>): void {
    const { error, denied } = event
    const step = this.#end(event, error === undefined ? 'done' : 'failed', denied ? 'refused' : error?.message)
    if (step === undefined || error === undefined || denied) return
    const what = whatOf(step.event)
    this.#failedTools.set(what, (this.#failedTools.get(what) ?? 0) + 1)
  }

  #called(event: EventOf<'model_call_end'>): void {
    const { finish_reason: reason, first_text_ms: firstTextMs, refused, repeated, cost = null } = event
    const isFailed = reason === 'error'
    this.#failures = isFailed ? this.#failures + 1 : 0
    const words = [
      reason === 'stop' || reason === 'tool-calls' ? '' : reason,
      refused ? 'refused' : '',
      repeated ? 'from the record' : '',
    ]
    const step = this.#end(event, isFailed ? 'failed' : 'done', words.filter((word) => word !== '').join(', '))
    if (step === undefined) return
    step.cost = cost
    if (firstTextMs !== undefined) step.textMs = step.startMs + firstTextMs
  }

  #stepBegan(event: EventOf<'step_start'>): void {
    // A step that waited, or whose process ended, begins again.
    const known = this.byId.get(event.step_id)
    const parent = event.parent_id === undefined ? this.#callOfMember(event) : this.byId.get(event.parent_id)
    const step = known ?? this.#begin(event, 'step', event.name, parent)
    if (known !== undefined) change(known, { isCut: false, endMs: undefined, end: undefined, state: 'running' })
    if (event.child_run_id !== undefined) step.childRunId = event.child_run_id
  }

  /** The call by which the model that leads a team asked the member. */
  #callOfMember({ name, child_run_id: child }: EventOf<'step_start'>): Step | undefined {
    if (child === undefined) return undefined
    const tool = memberToolName(name)
    return [...this.#openTools].find((one) => one.endMs === undefined && one.label === tool && !one.below.length)
  }

  #finish(event: EventOf<'run_end' | 'run_error'>): void {
    const failed = event.type === 'run_error'
    const status = failed ? 'failed' : event.status
    this.status = status
    const open = this.steps.filter(({ kind, endMs }) => kind === 'run' || endMs === undefined)
    const ended = { endMs: this.durationMs, end: event }
    if (status === 'input_required') {
      for (const step of open) change(step, { state: 'waiting' })
      change(this.root, ended)
      return
    }
    const state = status === 'completed' ? 'done' : status === 'cancelled' ? status : 'failed'
    for (const step of open) change(step, { ...ended, state, isCut: status === 'interrupted' })
    const end = this.#push(event, 'end', failed ? event.error.message : status)
    change(end, { ...ended, state, note: failed ? undefined : event.cancellation_reason })
  }

  #goOn(event: EventOf<'run_resumed'>, lastMs: number): void {
    const { paused, from } = event
    const toMs = this.durationMs
    const recordedMs = paused === undefined ? lastMs : Math.min(toMs, Date.parse(paused.at) - (this.began ?? 0))
    const fromMs = from === 'interrupted' ? lastMs : recordedMs
    if (from === 'input_required')
      for (const exchange of this.exchanges) exchange.given ??= answerTo(exchange.asked.call_id, event)
    this.status = 'running'
    this.pauses = [...this.pauses, { fromMs, toMs }]
    this.waitedMs += toMs - fromMs
    for (const step of this.steps) {
      if (step.state !== 'waiting') continue
      change(step, step.kind === 'wait' ? { endMs: toMs, end: event, state: 'done' } : { state: 'running' })
    }
    change(this.root, { isCut: false, endMs: undefined, end: undefined, state: 'running' })
  }

  #push(event: RunEvent, kind: StepKind, label: string, parent = this.root): Step {
    const step = stepOf(event, kind, label, this.durationMs, parent)
    parent?.below.push(step)
    this.steps.push(step)
    return step
  }

  #begin(event: RunEvent, kind: StepKind, label: string, parent?: Step): Step {
    const step = this.#push(event, kind, label, parent)
    this.byId.set(step.callId, step)
    return step
  }

  /** Undefined when it is not under way. */
  #end(event: Ending, state: Step['state'], note: string | undefined): Step | undefined {
    const step = this.byId.get(idOf(event))
    if (step === undefined || step.endMs !== undefined) return undefined
    this.#openTools.delete(step)
    const usage = 'usage' in event ? event.usage : undefined
    change(step, { endMs: this.durationMs, end: event, state, usage, note: note || step.note })
    if (usage)
      for (let outer = step.parent; outer !== undefined; outer = outer.parent)
        change(outer, { usageInside: sumUsage(outer.usageInside, usage) })
    return step
  }
}

import { invalid } from '../error.ts'
import type { EmittedEvent, ModelCallStart, RunEvent, RunResumedEvent, SourceEvent, Stamp } from '../event.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Retrieval } from '../knowledge/retrieval.ts'
import type { EntityKind } from '../run.ts'
import { type RecordedPassage, toHits } from './passages.ts'

/** The tool by which a model searches the knowledge base. */
export const searchToolName = 'search_knowledge'

/** The model's name of the tool that stands for a member of a team. */
export function memberToolName(member: string): string {
  return `ask_${member.replace(/[^A-Za-z0-9_-]+/g, '_')}`.slice(0, 64)
}

/** An event of the record that a run which repeats it records again. */
export type RepeatedEvent = EmittedEvent | RunResumedEvent

export interface OpenCall {
  call_id: string
  name: string
  input: Json
}

/** Where a run goes on after what it repeats. */
export interface AgainStart {
  at: 'model_call' | 'tool_call' | 'retrieval' | 'step'
  /** The prompt of the call that is made anew, or that made the tool calls; null when it can't be restored. */
  prompt?: Json
  /** The answer of that call with the results so far, as the next call's prompt has it; else `said`. */
  answer?: Json[] | undefined
  said?: { text: string; reasoning: string; calls: OpenCall[] }
  results?: { call_id: string; name: string; output?: Json; error?: string }[]
  /** The calls without a result, in order. */
  open?: OpenCall[]
  /** The name of the step. */
  step?: string
  /** What the search found that is made anew. */
  retrieval?: { event: Retrieval; passages: RecordedPassage[] }
}

export interface AgainPlan {
  /** The number of the event that it runs from. */
  from: number
  /** What the record has before it, in order. */
  repeated: RepeatedEvent[]
  start: AgainStart
}

type Recorded = RunEvent & Stamp
type Start = Extract<Recorded, { type: 'model_call_start' | 'tool_call' | 'retrieval' | 'step_start' }>

/**
 * What of a record is repeated when it runs again from the event `from`, or the next one from which it can: a model call, a
 * tool call, a retrieval or a step. Throws `invalid_request` when there is none.
 */
export function planAgain(events: readonly RunEvent[], from: number, kind: EntityKind): AgainPlan {
  const first = events.find((event): event is Start => event.seq >= from && isStart(event, kind, events))
  if (first === undefined) {
    const last = events.findLast((event) => isStart(event, kind, events))
    const hint = last === undefined ? 'Leave `from` out to run it from its beginning.' : `The last one is ${last.seq}.`
    throw invalid(`The run has no model call, tool call, retrieval or step from event ${from} on. ${hint}`, 'from')
  }
  const event = outermost(first, events)
  switch (event.type) {
    case 'model_call_start':
      return {
        from: event.seq,
        repeated: before(events, event.seq),
        start: { at: 'model_call', prompt: promptOf(event) },
      }
    case 'tool_call':
      return fromCall(events, event)
    case 'retrieval': {
      const call = events.find((one) => one.type === 'model_call_start' && one.seq > event.seq)
      const prompt = call?.type === 'model_call_start' ? promptOf(call) : null
      const retrieval = { event: bodyOf(event) as Retrieval, passages: toHits(sourcesAfter(events, event), prompt) }
      return { from: event.seq, repeated: before(events, event.seq), start: { at: 'retrieval', retrieval } }
    }
    case 'step_start':
      return { from: event.seq, repeated: beforeStep(events, event.seq), start: { at: 'step', step: event.name } }
  }
}

function isStart(event: RunEvent, kind: EntityKind, events: readonly RunEvent[]): event is Start {
  if (event.type === 'step_start') {
    if (kind === 'workflow') return event.parent_id === undefined
    if (kind === 'team') return event.child_run_id !== undefined
    // What a tool asks begins with its call.
    return event.parent_id !== undefined && callOf(event.parent_id, events) !== undefined
  }
  return kind !== 'workflow' && ['model_call_start', 'tool_call', 'retrieval'].includes(event.type)
}

/** The tool call that a search or a run inside this one was made by. */
function outermost(event: Start, events: readonly RunEvent[]): Start {
  if (event.type === 'retrieval') return searchOf(event, events) ?? event
  if (event.type !== 'step_start') return event
  if (event.parent_id !== undefined) return callOf(event.parent_id, events) ?? event
  const name = memberToolName(event.name)
  const earlier = events.filter((one) => one.type === 'step_start' && one.name === event.name && one.seq < event.seq)
  // A member that waited begins its step again.
  const nth = new Set(earlier.map((one) => ('step_id' in one ? one.step_id : ''))).size
  const calls = events.filter((one): one is Start => one.type === 'tool_call' && one.name === name)
  return calls[nth] ?? event
}

function callOf(callId: string, events: readonly RunEvent[]): Start | undefined {
  return events.find((one): one is Start => one.type === 'tool_call' && one.call_id === callId)
}

/** By the query: a retrieval does not name its call. */
function searchOf(event: Retrieval & Stamp, events: readonly RunEvent[]): Start | undefined {
  return events.findLast(
    (one): one is Start => one.type === 'tool_call' && one.seq < event.seq && isSearch(one, event.query),
  )
}

function isSearch(call: { name: string; input: Json }, query: string): boolean {
  const told = (call.input as JsonObject | null)?.query
  return call.name === searchToolName && typeof told === 'string' && told.trim().startsWith(query.replace(/…$/, ''))
}

/** The calls of the same model call that come before are answered; this one and those after it are open. */
function fromCall(events: readonly RunEvent[], call: Extract<Start, { type: 'tool_call' }>): AgainPlan {
  const model = events.findLast((one) => one.type === 'model_call_start' && one.seq < call.seq)
  if (model?.type !== 'model_call_start') throw invalid('The record has no model call that made this call.', 'from')
  const next = events.find((one) => one.type === 'model_call_start' && one.seq > call.seq)
  const end = next?.seq ?? Number.POSITIVE_INFINITY
  const own = events.filter(({ seq }) => seq > model.seq && seq < end)
  const calls = own.filter((one) => one.type === 'tool_call')
  const open = calls.filter(({ seq }) => seq >= call.seq)
  const answered = new Set(calls.filter(({ seq }) => seq < call.seq).map(({ call_id }) => call_id))
  const results = own.filter((one) => one.type === 'tool_result' && answered.has(one.call_id))
  const isKept = keptOf(own, answered)
  const kept = own.filter(isKept)
  const prompt = promptOf(model)
  const start: AgainStart = {
    at: 'tool_call',
    prompt,
    answer: answerIn(next?.type === 'model_call_start' ? promptOf(next) : null, prompt, calls),
    said: { text: textOf(kept, 'text_delta'), reasoning: textOf(kept, 'reasoning_delta'), calls: calls.map(toCall) },
    results: results.flatMap((one) =>
      one.type !== 'tool_result'
        ? []
        : [
            {
              call_id: one.call_id,
              name: one.name,
              ...(one.output !== undefined && { output: one.output }),
              ...(one.error !== undefined && { error: one.error.message }),
            },
          ],
    ),
    open: open.map(toCall),
  }
  const missing = calls.find(({ call_id, seq }) => seq < call.seq && !results.some((one) => isOf(one, call_id)))
  if (missing !== undefined) {
    throw invalid(`The call before it has no result. Run it again from event ${missing.seq}.`, 'from')
  }
  const search =
    call.name === searchToolName ? own.find((one) => one.type === 'retrieval' && isSearch(call, one.query)) : undefined
  if (search?.type === 'retrieval') {
    const result = own.find((one) => isOf(one, call.call_id))
    const text = result?.type === 'tool_result' && typeof result.output === 'string' ? result.output : null
    start.retrieval = { event: bodyOf(search) as Retrieval, passages: toHits(sourcesAfter(events, search), text) }
  }
  const repeated = [...before(events, model.seq), bodyOf(model), ...kept.map(bodyOf)]
  return { from: call.seq, repeated, start }
}

/** Of what a model call and its tools did: the call's own events, and what the answered calls did. */
function keptOf(own: readonly RunEvent[], answered: ReadonlySet<string>) {
  const end = own.findLast(({ type }) => type === 'model_call_end')?.seq ?? 0
  const steps = new Set<string>()
  let search = false
  return (event: RunEvent): boolean => {
    switch (event.type) {
      case 'tool_call':
      case 'model_call_end':
      case 'tool_input_delta':
        return true
      case 'tool_result':
      case 'tool_progress':
        return answered.has(event.call_id)
      case 'step_start':
        if (event.parent_id === undefined || !answered.has(event.parent_id)) return false
        steps.add(event.step_id)
        return true
      case 'step_end':
        return steps.has(event.step_id)
      case 'retrieval':
        search = own.some((one) => one.type === 'tool_call' && answered.has(one.call_id) && isSearch(one, event.query))
        return search
      case 'source':
        return search
      case 'input_required':
      case 'run_resumed':
        return false
      default:
        return event.seq < end
    }
  }
}

function isOf(event: RunEvent, callId: string): boolean {
  return event.type === 'tool_result' && event.call_id === callId
}

function toCall({ call_id, name, input }: OpenCall): OpenCall {
  return { call_id, name, input }
}

function textOf(events: readonly RunEvent[], type: 'text_delta' | 'reasoning_delta'): string {
  return events.map((event) => (event.type === type ? event.text : '')).join('')
}

/** What the next prompt has after the prompt of the calls: the model's own answer, with what providers need of it. */
function answerIn(next: Json, prompt: Json, calls: readonly OpenCall[]): Json[] | undefined {
  if (!Array.isArray(next) || !Array.isArray(prompt)) return undefined
  const place = next.findIndex((message) => {
    const { role, content } = message as { role?: string; content?: Json }
    return (
      role === 'assistant' &&
      Array.isArray(content) &&
      calls.every(({ call_id }) => content.some((part) => (part as JsonObject | null)?.toolCallId === call_id))
    )
  })
  return place < 0 ? undefined : [next[place] ?? null]
}

function sourcesAfter(events: readonly RunEvent[], retrieval: Stamp): SourceEvent[] {
  const sources: SourceEvent[] = []
  for (const event of events) {
    if (event.seq <= retrieval.seq) continue
    if (event.type !== 'source') break
    sources.push(bodyOf(event) as SourceEvent)
  }
  return sources
}

function promptOf({ messages }: ModelCallStart): Json {
  return messages ?? null
}

function before(events: readonly RunEvent[], seq: number): RepeatedEvent[] {
  return events.filter((event) => event.seq < seq && isRepeated(event)).map(bodyOf)
}

/** Steps that began before it are answered, also those that ended later. */
function beforeStep(events: readonly RunEvent[], seq: number): RepeatedEvent[] {
  const begun = new Set<string>()
  const isKept = (event: RunEvent): boolean => {
    if (event.type === 'step_start' && (event.seq < seq || begun.has(event.parent_id ?? ''))) {
      begun.add(event.step_id)
      return true
    }
    return event.seq < seq ? isRepeated(event) : event.type === 'step_end' && begun.has(event.step_id)
  }
  return events.filter(isKept).map(bodyOf)
}

function isRepeated({ type }: RunEvent): boolean {
  return type !== 'run_start' && type !== 'run_end' && type !== 'run_error'
}

/** Without the stamp and what it used, which is the other run's; a resumption also without the place of its pause. */
function bodyOf({ run_id: _run, seq: _seq, at: _at, ...body }: RunEvent): RepeatedEvent {
  switch (body.type) {
    case 'model_call_end':
      return { ...body, usage: null, repeated: true }
    case 'step_end': {
      const { usage: _usage, usage_by_model: _byModel, ...step } = body
      return step
    }
    case 'run_resumed': {
      const { paused: _paused, ...answer } = body
      return answer
    }
    default:
      return body as RepeatedEvent
  }
}

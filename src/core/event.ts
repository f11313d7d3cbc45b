import type { Json, JsonObject } from './json.ts'
import type { EntityKind, Run, RunError, RunStatus, Usage } from './run.ts'

/*
 * What happens in a run, as it is recorded, sent and read. The record is the answer, so events, runs, sessions and
 * messages keep the field names of the wire everywhere.
 */

export interface TextDelta {
  type: 'text_delta'
  text: string
}
export interface ReasoningDelta {
  type: 'reasoning_delta'
  text: string
}
/** A piece of the answer that is data: a part of its own, after the text so far. */
export interface DataEvent {
  type: 'data'
  data: Json
}
export interface ModelCallStart {
  type: 'model_call_start'
  call_id: string
  model: string
  /** The exact prompt. Recorded always, sent only when the reader asks for prompts; so are the two that follow. */
  messages?: Json
  tools?: Json
  /** Everything else that the call was made with. */
  settings?: JsonObject
  /** In the record, in place of what it says of `messages`, `tools` and `settings`. */
  prompt?: PromptRecord
}
/** A prompt without what is recorded elsewhere; `service/prompts/record.ts` writes and reads it. */
export interface PromptRecord {
  pieces: PromptPiece[]
  /** Of the whole prompt. */
  digest: string
  /** As of the model call before, in the same run. */
  same?: ('tools' | 'settings')[]
}
export type PromptPiece =
  | { message: Json }
  /** Of the prompt of the model call before: from which message on, and how many. */
  | { same: [from: number, count: number] }
  /** The messages of earlier turns of the session, from so many turns back to so many. */
  | { turns: [first: number, last: number] }
export interface ModelCallEnd {
  type: 'model_call_end'
  call_id: string
  usage: Usage | null
  finish_reason: string
  duration_ms: number
}
export interface RetrievalHit {
  chunk_id: string
  source: string
  score: number
}
export interface Retrieval {
  type: 'retrieval'
  query: string
  results: RetrievalHit[]
}
export interface SourceEvent {
  type: 'source'
  /** From 1, as the answer cites it. */
  index: number
  source: string
  document_id: string
  chunk_id: string
  line_start?: number
  line_end?: number
  page?: number
}
export interface ToolCall {
  type: 'tool_call'
  call_id: string
  name: string
  input: Json
}
export interface ToolResult {
  type: 'tool_result'
  call_id: string
  name: string
  output?: Json
  error?: { message: string }
  duration_ms: number
}
export interface InputRequired {
  type: 'input_required'
  /** Of the tool call, or the approval, that waits; what asks with one and without `schema` wants `approved`. */
  call_id?: string
  prompt: string
  /** What there is to decide about. */
  data?: Json
  /** Of the `input` that is wanted. */
  schema?: JsonObject
  /** As of a step. */
  after?: string
  /** What the run goes on from. Recorded always, sent only when the reader asks for prompts. */
  messages?: Json
}
export interface StepStart {
  type: 'step_start'
  step_id: string
  name: string
  parent_id?: string
  /** The step or approval that the same thread of a workflow's code had come to before. */
  after?: string
  /** The run of the team member at work. */
  child_run_id?: string
}
export interface StepEnd {
  type: 'step_end'
  step_id: string
  status: 'completed' | 'failed' | 'cancelled'
  output?: Json
  error?: { message: string }
  /** Of the member's run. */
  usage?: Usage
  /** The session's state after a workflow's step that changed it. Recorded always, sent only when the reader asks for prompts. */
  state?: JsonObject
  duration_ms: number
}

/** What a runnable may emit. */
export type EmittedEvent =
  | TextDelta
  | ReasoningDelta
  | DataEvent
  | ModelCallStart
  | ModelCallEnd
  | Retrieval
  | SourceEvent
  | ToolCall
  | ToolResult
  | InputRequired
  | StepStart
  | StepEnd

const emitted: Record<EmittedEvent['type'], true> = {
  text_delta: true,
  reasoning_delta: true,
  data: true,
  model_call_start: true,
  model_call_end: true,
  retrieval: true,
  source: true,
  tool_call: true,
  tool_result: true,
  input_required: true,
  step_start: true,
  step_end: true,
}
/** The types of the events that a runnable may emit. */
export const emittedTypes: readonly string[] = Object.keys(emitted)

export function isEmittedType(type: unknown): type is EmittedEvent['type'] {
  return typeof type === 'string' && Object.hasOwn(emitted, type)
}

export interface RunStartEvent {
  type: 'run_start'
  session_id: string
  entity_id: string
  entity_kind: EntityKind
}
/** The run goes on after a pause; what it was given is the answer to every `input_required` before it. */
export interface RunResumedEvent {
  type: 'run_resumed'
  /** What the run was; the session's state was kept when it began to wait, and not when its process died. */
  from: 'input_required' | 'interrupted'
  /** For everything that waits, or by `call_id`. */
  approved?: boolean | Record<string, boolean>
  input?: Json
}
export interface RunEndEvent {
  type: 'run_end'
  status: RunStatus
  usage: Usage | null
  cache_hit: boolean
  cancellation_reason?: string
}
export interface RunErrorEvent {
  type: 'run_error'
  error: RunError
}

export interface Stamp {
  run_id: string
  /** From 1, growing by one within a process; a crash may leave a gap, never a repeat. */
  seq: number
  at: string
}

export type RunEventBody = EmittedEvent | RunStartEvent | RunResumedEvent | RunEndEvent | RunErrorEvent
export type RunEvent = RunEventBody & Stamp

/** Whether the stream ends with this event. */
export function isFinalEvent(event: RunEventBody): event is RunEndEvent | RunErrorEvent {
  return event.type === 'run_end' || event.type === 'run_error'
}

/** The first event of every run (number 1). It is derived from the run's row wherever it is read, never stored. */
export function startEvent(run: Run): RunStartEvent & Stamp {
  return {
    type: 'run_start',
    run_id: run.run_id,
    seq: 1,
    at: run.started_at ?? run.created_at,
    session_id: run.session_id,
    entity_id: run.entity_id,
    entity_kind: run.entity_kind,
  }
}

/** The last event of an ended run, derived from its row likewise: `run_error` for a run with an error, `run_end` for every other. */
export function endEvent(run: Run, seq: number): (RunEndEvent | RunErrorEvent) & Stamp {
  const at = run.completed_at ?? run.created_at
  if (run.status === 'failed' || run.error !== null) {
    const error = run.error ?? { code: 'run_failed', message: 'The run failed.' }
    return { type: 'run_error', run_id: run.run_id, seq, at, error }
  }
  return {
    type: 'run_end',
    run_id: run.run_id,
    seq,
    at,
    status: run.status,
    usage: run.usage,
    cache_hit: run.cache_hit,
    ...(run.cancellation_reason === null ? {} : { cancellation_reason: run.cancellation_reason }),
  }
}

import type { Json, JsonObject } from './json.ts'
import type { Retrieval } from './knowledge/retrieval.ts'
import type { FilePart } from './message.ts'
import type { CallAnswer, Cost, EntityKind, ModelUsage, Run, RunError, RunStatus, Usage, WaitingKind } from './run.ts'

/*
 * The events of a run, as they are recorded, sent and read. The record is the answer, so events, runs, sessions and
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
/** A data part of the answer, placed after the text so far. */
export interface DataEvent {
  type: 'data'
  data: Json
}
/** The partial data of the answer so far, for those who read the run now: it is not recorded and has no number of its own. */
export interface DataDelta {
  type: 'data_delta'
  data: Json
}
/** A file of the answer, placed after the text so far. */
export type FileEvent = FilePart
export interface ModelCallStart {
  type: 'model_call_start'
  call_id: string
  model: string
  /** The exact prompt. Like the next two fields, always recorded but sent only on request. */
  messages?: Json
  tools?: Json
  /** All other settings of the call. */
  settings?: JsonObject
  /** In the record, replaces parts of `messages`, `tools` and `settings` that are recorded elsewhere. */
  prompt?: PromptRecord
}
/** A prompt as references to data that is recorded elsewhere. `service/prompts/record.ts` writes and reads it. */
export interface PromptRecord {
  pieces: PromptPiece[]
  /** A hash of the whole prompt. */
  digest: string
  /** The same as in the preceding model call of the run. */
  same?: ('tools' | 'settings')[]
}
export type PromptPiece =
  | { message: Json }
  /** Messages of the preceding model call's prompt: the first index and the count. */
  | { same: [from: number, count: number] }
  /** Messages of earlier runs of the session, counted back from this run. */
  | { turns: [first: number, last: number] }
export interface ModelCallEnd {
  type: 'model_call_end'
  call_id: string
  /** As in its `model_call_start`, for readers that come after it. Absent in records of earlier versions. */
  model?: string
  usage: Usage | null
  finish_reason: string
  /** The provider refused the call before it generated anything, and bills nothing for it. */
  refused?: true
  /** Taken over from the record of another run, which used what the call took. */
  repeated?: true
  duration_ms: number
  /** From the call to the first text or reasoning of the answer; absent when it had none. */
  first_text_ms?: number
  /** Added when it is sent, never recorded. Null: not known. */
  cost?: Cost | null
}
/** A model was given up before its first fragment, and the call is made again with the next one. */
export interface ModelFallback {
  type: 'model_fallback'
  /** The call that failed. */
  call_id: string
  from: string
  to: string
  /** In words, without keys. */
  reason: string
}
export interface SourceEvent {
  type: 'source'
  /** The number that the answer cites, from 1. */
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
  /** The call was not approved and not made. */
  denied?: true
  duration_ms: number
}
/** What a tool that yields has given so far; its last value is the `output` of its `tool_result`. */
export interface ToolProgress {
  type: 'tool_progress'
  call_id: string
  name: string
  output: Json
}
/** A piece of the input's JSON while the model writes it; `tool_call` has the whole. */
export interface ToolInputDelta {
  type: 'tool_input_delta'
  call_id: string
  name: string
  text: string
}
export interface InputRequired {
  type: 'input_required'
  /** The tool call or approval that waits. A request of a child run has `<run id of the child>/<its call_id>`. */
  call_id?: string
  /** The child run that asks. */
  child_run_id?: string
  /** Absent in records of earlier versions: `approval` with a `call_id` and without a `schema`, else `input`. */
  kind?: WaitingKind
  /** The tool of the call. */
  tool?: string
  prompt: string
  /** The data to decide about. */
  data?: Json
  /** The JSON schema of the requested `input`. */
  schema?: JsonObject
  /** The same as for a step. */
  after?: string
  /** The messages from which the run continues. Always recorded, sent only on request. */
  messages?: Json
}
export interface StepStart {
  type: 'step_start'
  step_id: string
  name: string
  parent_id?: string
  /** The preceding step or approval in the same branch of the workflow's code. */
  after?: string
  child_run_id?: string
  /** `ask`: the child run was asked by the entity's own code. */
  kind?: 'ask'
}
export interface StepEnd {
  type: 'step_end'
  step_id: string
  status: 'completed' | 'failed' | 'cancelled'
  output?: Json
  error?: { message: string }
  usage?: Usage
  /** The child run's usage, by model. */
  usage_by_model?: ModelUsage[]
  /** The session's state after a workflow step that changed it. Always recorded, sent only on request. */
  state?: JsonObject
  duration_ms: number
}

export type EmittedEvent =
  | TextDelta
  | ReasoningDelta
  | DataEvent
  | DataDelta
  | FileEvent
  | ModelCallStart
  | ModelCallEnd
  | ModelFallback
  | Retrieval
  | SourceEvent
  | ToolCall
  | ToolResult
  | ToolProgress
  | ToolInputDelta
  | InputRequired
  | StepStart
  | StepEnd

const emitted: Record<EmittedEvent['type'], true> = {
  text_delta: true,
  reasoning_delta: true,
  data: true,
  data_delta: true,
  file: true,
  model_call_start: true,
  model_call_end: true,
  model_fallback: true,
  retrieval: true,
  source: true,
  tool_call: true,
  tool_result: true,
  tool_progress: true,
  tool_input_delta: true,
  input_required: true,
  step_start: true,
  step_end: true,
}
export const emittedTypes: readonly string[] = Object.keys(emitted)

export function isEmittedType(type: unknown): type is EmittedEvent['type'] {
  return typeof type === 'string' && Object.hasOwn(emitted, type)
}

/** The text of a piece of text, reasoning or input; undefined for all other events, also those of later versions. */
export function eventText(event: RunEventBody): string | undefined {
  return 'text' in event && typeof event.text === 'string' ? event.text : undefined
}

export interface RunStartEvent {
  type: 'run_start'
  session_id: string
  entity_id: string
  entity_kind: EntityKind
}
/** The run continues after a pause. Its fields answer every earlier `input_required`. */
export interface RunResumedEvent {
  type: 'run_resumed'
  /** The status before. The session's state was saved at a pause, but not when the process died. */
  from: 'input_required' | 'interrupted'
  /** One decision for everything that waits, or one per `call_id`. */
  approved?: boolean | Record<string, boolean>
  input?: Json
  /** One answer per `call_id`. */
  answers?: Record<string, CallAnswer>
  /** The pause's end, which this event replaces in the record. */
  paused?: { seq: number; at: string }
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
  /** Increases by one from 1 within a process. A crash may leave a gap but never repeats a number. A `data_delta` has the last one. */
  seq: number
  at: string
}

export type RunEventBody = EmittedEvent | RunStartEvent | RunResumedEvent | RunEndEvent | RunErrorEvent
export type RunEvent = RunEventBody & Stamp

const own: Record<Exclude<RunEventBody['type'], EmittedEvent['type']>, true> = {
  run_start: true,
  run_resumed: true,
  run_end: true,
  run_error: true,
}

/** False for the type of a later version: its events may have any fields. */
export function isKnownType(type: string): type is RunEventBody['type'] {
  return Object.hasOwn(emitted, type) || Object.hasOwn(own, type)
}

/** Whether the stream ends with this event. */
export function isFinalEvent(event: RunEventBody): event is RunEndEvent | RunErrorEvent {
  return event.type === 'run_end' || event.type === 'run_error'
}

/** The first event of every run (number 1). It is derived from the run's row and never stored. */
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

/** The last event of an ended run, also derived from its row: `run_error` if the run has an error, otherwise `run_end`. */
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

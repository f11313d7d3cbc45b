import type { Json, JsonObject } from '../json.ts'
import type { Retrieval, RetrievalHit } from '../knowledge/retrieval.ts'
import type { PageRequest } from '../page.ts'
import type { Run, Usage } from '../run.ts'

/* The trace of a run: the input and output of each model call. */

/** What a retrieval recorded of a passage; its place is that of its source, if the answer can cite it. */
export interface TracedPassage extends RetrievalHit {
  /** Its number in the prompt; null when the prompt does not contain it. */
  index: number | null
}

export interface TracedRetrieval extends Omit<Retrieval, 'type' | 'results'> {
  passages: TracedPassage[]
}

export interface TracedToolCall {
  call_id: string
  name: string
  input: Json
  output?: Json
  error?: { message: string }
  /** The call was not approved and not made. Absent in records of earlier versions. */
  denied?: true
  /** Null while it has no result. */
  duration_ms: number | null
}

export interface TracedCall {
  call_id: string
  model: string
  /** Number of its first event. */
  seq: number
  at: string
  /** The exact prompt, system message and history included; null when it can't be restored completely. */
  messages: Json
  tools: Json
  settings: JsonObject | null
  /** Retrievals since the previous call. */
  retrievals: TracedRetrieval[]
  text: string
  reasoning: string
  tool_calls: TracedToolCall[]
  /** This and the next two fields are null while the call is active. */
  finish_reason: string | null
  usage: Usage | null
  duration_ms: number | null
  /** From the call to the first text or reasoning of the answer; absent when it had none. */
  first_text_ms?: number
}

/** `call`: only the model call with this id, instead of a page. */
export interface TraceRequest extends PageRequest {
  call?: string | undefined
}

export interface RunTrace
  extends Pick<Run, 'run_id' | 'session_id' | 'parent_run_id' | 'entity_id' | 'entity_kind' | 'status'> {
  /** Runs of team members, which have their own traces. */
  child_run_ids: string[]
  calls: TracedCall[]
  /** On the last page: retrievals after the last call. */
  retrievals: TracedRetrieval[]
  /** Calls in this page. */
  count: number
  next_cursor: string | null
}

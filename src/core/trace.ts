import type { SourceEvent } from './event.ts'
import type { Json, JsonObject } from './json.ts'
import type { Run, Usage } from './run.ts'

/*
 * Why a run answered as it did: what each of its model calls was told, and what it gave.
 */

export interface TracedPassage extends Partial<Omit<SourceEvent, 'type' | 'index'>> {
  chunk_id: string
  source: string
  score: number
  /** The number by which the prompt has it; null for one that it has not. */
  index: number | null
}

export interface TracedRetrieval {
  query: string
  passages: TracedPassage[]
}

export interface TracedToolCall {
  call_id: string
  name: string
  input: Json
  output?: Json
  error?: { message: string }
  /** Null while it has no result. */
  duration_ms: number | null
}

export interface TracedCall {
  call_id: string
  model: string
  /** Of its first event. */
  seq: number
  at: string
  /** The exact prompt, system message and history included; null when it can't be made whole. */
  messages: Json
  /** Tool definitions as the model got them. */
  tools: Json
  settings: JsonObject | null
  /** What was found since the call before. */
  retrievals: TracedRetrieval[]
  text: string
  reasoning: string
  tool_calls: TracedToolCall[]
  /** Null while the call goes on, as the two that follow. */
  finish_reason: string | null
  usage: Usage | null
  duration_ms: number | null
}

export interface RunTrace
  extends Pick<Run, 'run_id' | 'session_id' | 'parent_run_id' | 'entity_id' | 'entity_kind' | 'status'> {
  /** Runs of team members, which have traces of their own. */
  child_run_ids: string[]
  calls: TracedCall[]
  /** Calls in this page. */
  count: number
  next_cursor: string | null
}

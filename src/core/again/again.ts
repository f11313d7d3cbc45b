import type { StepEnd } from '../event.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Filters } from '../knowledge/filter.ts'
import type { SearchMode } from '../knowledge/knowledge.ts'
import type { GivenPart } from '../message.ts'
import type { AgainAfter } from '../run.ts'
import type { AgainStart } from './plan.ts'
import type { RecordedCall } from './recorded-calls.ts'

/* Runs that repeat another run, with edits. */

/** Settings of a model call that may be changed, with the names of the trace. */
export interface CallSettings {
  temperature?: number
  topP?: number
  topK?: number
  maxOutputTokens?: number
  presencePenalty?: number
  frequencyPenalty?: number
  stopSequences?: string[]
  seed?: number
}

export interface PassagesEdit {
  /** Ids of chunks that the model is not told. */
  drop?: string[]
  /** These search anew. */
  limit?: number
  mode?: SearchMode
  filters?: Filters
}

/** What is changed of a run that is repeated. Instructions, model and settings hold for all its calls. */
export interface AgainEdit {
  input?: string | GivenPart[]
  instructions?: string
  /** `provider/model`. */
  model?: string
  settings?: CallSettings
  /** In place of the prompt of the first call. */
  messages?: JsonObject[]
  /** In place of the result of the tool call that it runs from. */
  tool_output?: Json
  passages?: PassagesEdit
}

/** How a run that repeats another goes on. Its child runs have it too, without edits. */
export interface Again {
  after: AgainAfter
  edit: AgainEdit
  /** Absent from the beginning, in child runs, and once the run was resumed. */
  start?: AgainStart | undefined
  /** What answers instead of the world; only with `recorded`. */
  record?: AgainRecord | undefined
}

/** The results in the record of the run that is repeated, and of the runs inside it. */
export interface AgainRecord {
  call(name: string, input: Json): RecordedCall | undefined
  /** The end of a workflow's step, by name and occurrence from 1. */
  step(name: string, occurrence: number): StepEnd | undefined
}

import type { SourceEvent } from './event.ts'
import type { Json, JsonObject } from './json.ts'
import type { Message, Part, Role } from './message.ts'

export type EntityKind = 'agent' | 'team' | 'workflow'

export const runStatuses = [
  'queued',
  'running',
  'input_required',
  'completed',
  'failed',
  'cancelled',
  'interrupted',
] as const
export type RunStatus = (typeof runStatuses)[number]

/** What a run is made into as text: for a model, or as what asks the same once more. */
export type RunTextForm = 'markdown' | 'curl' | 'typescript' | 'use-chat'
export const runTextForms = ['markdown', 'curl', 'typescript', 'use-chat'] as const satisfies readonly RunTextForm[]

/** Statuses that the database refuses to change. */
export const finalStatuses = ['completed', 'failed', 'cancelled'] as const satisfies readonly RunStatus[]

/** Whether the run sends no more events unless it is resumed. */
export function isEnded(status: RunStatus): boolean {
  return status !== 'queued' && status !== 'running'
}

/** Whether the run can be resumed: it waits for input, or it is an interrupted workflow. */
export function isResumable({ status, entity_kind }: Pick<Run, 'status' | 'entity_kind'>): boolean {
  return status === 'input_required' || (status === 'interrupted' && entity_kind === 'workflow')
}

export interface Usage {
  input_tokens: number
  output_tokens: number
  total_tokens: number
  /** Input that the provider had in its cache; part of `input_tokens`. Absent when it was not reported, like the next two. */
  cached_input_tokens?: number
  /** Input that the provider put into its cache; part of `input_tokens`. */
  cache_write_tokens?: number
  /** Part of `output_tokens`. */
  reasoning_tokens?: number
}

const totals = ['input_tokens', 'output_tokens', 'total_tokens'] as const
export const usageDetails = ['cached_input_tokens', 'cache_write_tokens', 'reasoning_tokens'] as const

/** Adds a model call's usage; `null` before the first call. A detail is the sum of those that were reported. */
export function addUsage(sum: Usage | null, added: Usage): Usage {
  const usage: Usage = {
    input_tokens: (sum?.input_tokens ?? 0) + added.input_tokens,
    output_tokens: (sum?.output_tokens ?? 0) + added.output_tokens,
    total_tokens: (sum?.total_tokens ?? 0) + added.total_tokens,
  }
  for (const detail of usageDetails) {
    const count = added[detail] ?? sum?.[detail]
    if (count !== undefined) usage[detail] = (added[detail] ?? 0) + (sum?.[detail] ?? 0)
  }
  return usage
}

/** What the calls of one model used. */
export interface ModelUsage extends Usage {
  /** As in `model_call_start`; null in sums of records that don't say which model it was. */
  model: string | null
  /** The input of the largest call: above a limit, a provider may bill the whole call at a higher price. */
  largest_input_tokens?: number
  /** Calls that are in no count: their usage was not reported, or they were cut off. A child run without an end is one, of no model. */
  unreported_calls?: number
}

const nothing: Usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }

/** Adds a call, or the sum of other calls, to the entry of this model. */
export function addModelUsage(
  sums: readonly ModelUsage[],
  model: string | null,
  usage: Usage & Pick<ModelUsage, 'largest_input_tokens' | 'unreported_calls'>,
): ModelUsage[] {
  const place = sums.findIndex((sum) => sum.model === model)
  const before = sums[place]
  const sum: ModelUsage = { model, ...addUsage(before ?? null, usage) }
  const largest = usage.largest_input_tokens ?? (usage.unreported_calls === undefined ? usage.input_tokens : undefined)
  if ((largest ?? before?.largest_input_tokens) !== undefined) {
    sum.largest_input_tokens = Math.max(before?.largest_input_tokens ?? 0, largest ?? 0)
  }
  const unreported = (before?.unreported_calls ?? 0) + (usage.unreported_calls ?? 0)
  if (unreported > 0) sum.unreported_calls = unreported
  return place < 0 ? [...sums, sum] : sums.with(place, sum)
}

/** Adds a call of which no usage is known. */
export function addUnreported(sums: readonly ModelUsage[], model: string | null): ModelUsage[] {
  return addModelUsage(sums, model, { ...nothing, unreported_calls: 1 })
}

/** False for the sum of calls that reported nothing: its zeros stand for what is not known. */
export function isReported(sum: Usage & Pick<ModelUsage, 'unreported_calls'>): boolean {
  return sum.unreported_calls === undefined || totals.some((field) => sum[field] !== 0)
}

/** A sum by model that amounts to `usage`. What is not told by model, or amounts to something else, has no model. */
export function modelUsageOf(usage: Usage | null, byModel: readonly ModelUsage[] = []): readonly ModelUsage[] {
  if (usage === null) return byModel.filter((sum) => !isReported(sum))
  const sum = byModel.reduce<Usage | null>(addUsage, null)
  const isWhole =
    sum !== null && ([...totals, ...usageDetails] as const).every((field) => (sum[field] ?? 0) === (usage[field] ?? 0))
  return isWhole ? byModel : [{ model: null, ...usage }]
}

/** What a run costs at the prices that are known when it is read. */
export interface Cost {
  usd: number
  /** The date of the price table; null when only prices of the config were used, or the models are local. */
  as_of: string | null
  /** All calls were of models on this machine. */
  local?: true
}

/** What a run that repeats another does with the result: nothing, a session of its own, or the place of the turn. */
export const againKeeps = ['no', 'fork', 'replace'] as const
export type AgainKeep = (typeof againKeeps)[number]

/** Who answers what could act on the world, from there on: a person allows it, the record answers it, or it is done. */
export const againAfters = ['ask', 'recorded', 'live'] as const
export type AgainAfter = (typeof againAfters)[number]

/** The run that this run repeats. What was changed is in the record (`RunGiven.edit`). */
export interface AgainOf {
  run_id: string
  /** The number of the event from which it runs; what lies before is answered from the record. Null: from its beginning. */
  from: number | null
  after: AgainAfter
  keep: AgainKeep
}

/** Whether the run only tries something again. A child run of such a run has its parent's `again_of`. */
export function isTry({ again_of }: Pick<Run, 'again_of'>): boolean {
  return again_of?.keep === 'no'
}

/** Whether the run is a turn of its session's conversation: no child run, and no try. */
export function isTurn(run: Pick<Run, 'parent_run_id' | 'again_of'>): boolean {
  return run.parent_run_id === null && !isTry(run)
}

/** Why a run was cancelled. A caller may also give another text. */
export type CancellationReason =
  | 'requested'
  | 'client_disconnected'
  | 'timeout'
  | 'shutdown'
  | 'superseded'
  | 'session_deleted'
  | 'parent_ended'
  | (string & {})

export interface RunError {
  code: string
  message: string
}

export const waitingKinds = ['approval', 'input', 'tool'] as const
/** What answers it: `approved`, `input`, or the `output` (or `error`) of a client tool. */
export type WaitingKind = (typeof waitingKinds)[number]

/** What a paused run waits for. */
export interface Waiting {
  call_id?: string
  /** The child run that asks. */
  child_run_id?: string
  kind: WaitingKind
  /** The tool of the call. */
  tool?: string
  prompt: string
  /** The data to decide about, or the tool's input. */
  data?: Json
  /** The JSON schema of `input`. */
  schema?: JsonObject
}

/** The answer to one request of a paused run. */
export interface CallAnswer {
  approved?: boolean | undefined
  input?: Json | undefined
  /** Of a client tool. */
  output?: Json | undefined
  /** Of a client tool that failed. */
  error?: string | undefined
  /** Why it was or was not approved. */
  reason?: string | undefined
}

/** A tool that the caller executes. */
export interface ClientTool {
  name: string
  description?: string | undefined
  /** JSON schema of its input. */
  parameters: JsonObject
}

/** What a caller gives a run besides its input. */
export interface RunGiven {
  client_tools?: ClientTool[] | undefined
  /** Takes the place of the session's history. */
  history?: { role: Role; parts: Part[] }[] | undefined
  /** Follows the agent's own. */
  instructions?: string | undefined
  /** JSON schema of the answer. */
  output_schema?: JsonObject | undefined
  /** What was changed of the run that it repeats. */
  edit?: JsonObject | undefined
  /** What the protocol by which it came has to say again, now or years later. No part of what the run works with. */
  protocol?: ProtocolEcho | undefined
  /** The header of that name of its request, by which its spans join the caller's trace. No part of what the run works with. */
  traceparent?: string | undefined
}

/** `echo`: fields of the request that answers repeat, such as the model's name or tools. */
export interface ProtocolEcho {
  name: string
  echo: JsonObject
}

export interface Run {
  run_id: string
  session_id: string
  /** The parent run. A child run does not use the session's queue and is not an interaction of the session. */
  parent_run_id: string | null
  entity_id: string
  entity_kind: EntityKind
  status: RunStatus
  created_at: string
  started_at: string | null
  completed_at: string | null
  cancellation_reason: CancellationReason | null
  error: RunError | null
  cache_hit: boolean
  usage: Usage | null
  /** `usage`, child runs included, by model, and calls without usage. Absent without calls, and in records of earlier versions. */
  usage_by_model?: ModelUsage[]
  /** Empty unless the status is `input_required`. */
  waiting: Waiting[]
  /** The run that took the place of this turn; null for a turn of the conversation. */
  replaced_by: string | null
  /** A child run has it only when its parent is a try. */
  again_of: AgainOf | null
}

/** A run with all recorded data except its events. */
export interface RunRecord extends Run {
  user_id: string | null
  metadata: JsonObject | null
  background: boolean
  /** Milliseconds for a background run, from its start; null means no limit. */
  timeout_ms: number | null
  /** Whether the last moments before a crash may be missing from the events and the answer. */
  truncated: boolean
  /** The number of the final event, or of the end of the stream at a pause; null while the run is active. */
  end_seq: number | null
  /** The input and, once the run has ended, the output (also the partial output of a run that did not complete). */
  messages: Message[]
  sources: SourceEvent[]
  /** The turn before it, for a turn that has been replaced. */
  follows?: string | undefined
  /** Null in lists and histories, and without any. */
  given: RunGiven | null
  /** What a later version has recorded of it, by the names of its fields. Only in records that are read for a copy. */
  later?: JsonObject | undefined
}

/** A run without its large fields: messages, sources, metadata and what the caller gave. */
export type RunHead = Omit<RunRecord, 'messages' | 'sources' | 'metadata' | 'given' | 'later'>

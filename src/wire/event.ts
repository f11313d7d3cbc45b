import { z } from 'zod'
import type { RunEvent as CoreRunEvent, SourceEvent } from '../core/event.ts'
import {
  type CallAnswer as CoreCallAnswer,
  type Cost as CoreCost,
  type ModelUsage as CoreModelUsage,
  type Waiting as CoreWaiting,
  runStatuses,
  waitingKinds,
} from '../core/run.ts'
import type { CitedSource } from '../core/text/citations.ts'
import { flag, json, jsonObject, said, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { aboutRetrieval, RetrievalHit } from './retrieval.ts'

export const Usage = component(
  'Usage',
  z.object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    total_tokens: z.int(),
    cached_input_tokens: z.int().exactOptional().describe("Input from the provider's cache; part of `input_tokens`."),
    cache_write_tokens: z
      .int()
      .exactOptional()
      .describe("Input put into the provider's cache; part of `input_tokens`."),
    reasoning_tokens: z.int().exactOptional().describe('Part of `output_tokens`.'),
  }),
)
/** What the calls of one model used. */
export const ModelUsage = component(
  'ModelUsage',
  Usage.extend({
    model: z.string().nullable().describe('Null for what earlier versions recorded without the model.'),
    largest_input_tokens: z
      .int()
      .exactOptional()
      .describe('The input of the largest call. Its size may set the price.'),
    unreported_calls: z
      .int()
      .min(1)
      .exactOptional()
      .describe('Calls that are in no count: their usage was not reported, or they were cut off.'),
  }),
) satisfies z.ZodType<CoreModelUsage>
/** What it costs, by the prices of now. */
export const Cost = component(
  'Cost',
  z.object({
    usd: z.number(),
    as_of: z
      .string()
      .nullable()
      .describe('The date of the price table. Null if only prices of the configuration were used.'),
    local: z.literal(true).exactOptional().describe('All models ran on a machine of their own.'),
  }),
) satisfies z.ZodType<CoreCost>
export const RunError = component('RunError', z.object({ code: z.string(), message: z.string() }))
export const EntityKind = z.enum(['agent', 'team', 'workflow'])
export const RunStatus = component('RunStatus', z.enum(runStatuses))
const WaitingKind = z.enum(waitingKinds)

const request = {
  call_id: z.string().exactOptional(),
  child_run_id: z.string().exactOptional().describe('The child run that asks.'),
  tool: z.string().exactOptional().describe('The tool of the call.'),
  prompt: z.string(),
  data: json().exactOptional().describe('The data to decide about.'),
  schema: jsonObject().exactOptional().describe('The JSON schema of the requested `input`.'),
}

/** What a paused run waits for. */
export const Waiting = component(
  'Waiting',
  z.object({ ...request, kind: WaitingKind }),
) satisfies z.ZodType<CoreWaiting>

export const CallAnswer = component(
  'CallAnswer',
  z.object({
    approved: flag().exactOptional(),
    input: json().exactOptional(),
    output: json().exactOptional().describe('Of a tool that the caller executed.'),
    error: z.string(said('must be a string')).exactOptional().describe('Why the tool that the caller executed failed.'),
    reason: z.string(said('must be a string')).exactOptional().describe('Why it was or was not approved.'),
  }),
) satisfies z.ZodType<CoreCallAnswer>

const failure = z.object({ message: z.string() })
const milliseconds = z.number()
const stamp = {
  run_id: z.string(),
  seq: z
    .int()
    .describe(
      'Increasing from 1. Numbers may be skipped but never repeat, except in a `data_delta`: it has the last one.',
    ),
  at: timestamp(),
}

const after = () => z.string().exactOptional().describe('The preceding step in the same branch of the workflow code.')

function event<T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  return z.object({ type: z.literal(type), ...stamp, ...fields })
}

/** One decision for everything that waits, or one per `call_id`. */
export const Approved = z.union([z.boolean(), z.record(z.string(), z.boolean())])

/** A passage that the answer can cite, as the record keeps it. */
export const RecordedSource = z.object({
  type: z.literal('source'),
  index: z.int().describe('The number by which the answer cites it, from 1.'),
  source: z.string(),
  document_id: z.string(),
  chunk_id: z.string(),
  line_start: z.int().exactOptional(),
  line_end: z.int().exactOptional(),
  page: z.int().exactOptional(),
}) satisfies z.ZodType<SourceEvent>

/** A source of a run's answer. */
export const Source = component(
  'Source',
  RecordedSource.extend({ cited: z.boolean().describe('Whether the text of the answer cites it, like [1].') }),
) satisfies z.ZodType<CitedSource>

/** One event of a run's stream: the `data` of a server-sent event whose `event` is its `type` and whose `id` is its `seq`; a `data_delta` has no `id`. */
export const RunEvent = component(
  'RunEvent',
  z.discriminatedUnion('type', [
    event('run_start', { session_id: z.string(), entity_id: z.string(), entity_kind: EntityKind }),
    event('text_delta', { text: z.string() }),
    event('reasoning_delta', { text: z.string() }),
    event('data', { data: json().describe('A data part of the answer.') }),
    event('data_delta', {
      data: json().describe('The partial data of the answer so far. Only live readers get it; it has no `id`.'),
    }),
    event('file', {
      media_type: z.string(),
      name: z.string().exactOptional(),
      file_id: z.string().exactOptional(),
      size: z.int().exactOptional(),
      url: z.string().exactOptional(),
    }),
    event('model_call_start', {
      call_id: z.string(),
      model: z.string(),
      messages: json().exactOptional().describe('The exact prompt, with `include=prompts`.'),
      tools: json().exactOptional().describe('The tool definitions sent to the model, with `include=prompts`.'),
      settings: jsonObject().exactOptional().describe('The other settings of the call, with `include=prompts`.'),
    }),
    event('model_call_end', {
      call_id: z.string(),
      model: z.string().exactOptional(),
      usage: Usage.nullable(),
      finish_reason: z.string(),
      refused: z.literal(true).exactOptional().describe('The provider refused the call and generated nothing.'),
      repeated: z
        .literal(true)
        .exactOptional()
        .describe('Taken over from the record of another run, which used what it took.'),
      duration_ms: milliseconds,
      first_text_ms: milliseconds.exactOptional().describe('From the call to the first text or reasoning.'),
      cost: Cost.nullable().exactOptional().describe('Null: not known. Absent in copies of sessions.'),
    }),
    event('model_fallback', {
      call_id: z.string().describe('The call that failed.'),
      from: z.string().describe('Its model.'),
      to: z.string().describe('The model that is called next.'),
      reason: z.string(),
    }),
    event('retrieval', { query: z.string(), results: z.array(RetrievalHit), ...aboutRetrieval }),
    RecordedSource.extend(stamp),
    event('tool_call', { call_id: z.string(), name: z.string(), input: json() }),
    event('tool_result', {
      call_id: z.string(),
      name: z.string(),
      output: json().exactOptional(),
      error: failure.exactOptional(),
      denied: z.literal(true).exactOptional().describe('The call was not approved and not made.'),
      duration_ms: milliseconds,
    }),
    event('tool_progress', {
      call_id: z.string(),
      name: z.string(),
      output: json().describe('What the tool has given so far.'),
    }),
    event('tool_input_delta', {
      call_id: z.string(),
      name: z.string(),
      text: z.string().describe("A piece of the input's JSON while the model writes it; `tool_call` has the whole."),
    }),
    event('input_required', {
      ...request,
      kind: WaitingKind.exactOptional(),
      after: after(),
      messages: json().exactOptional().describe('The messages from which the run continues, with `include=prompts`.'),
    }),
    event('run_resumed', {
      from: z.enum(['input_required', 'interrupted']),
      approved: Approved.exactOptional(),
      input: json().exactOptional(),
      answers: z.record(z.string(), CallAnswer).exactOptional(),
      paused: z.object({ seq: z.int(), at: timestamp() }).exactOptional(),
    }),
    event('step_start', {
      step_id: z.string(),
      name: z.string(),
      parent_id: z.string().exactOptional(),
      after: after(),
      child_run_id: z.string().exactOptional().describe('The run of the team member, or of the agent that was asked.'),
      kind: z.literal('ask').exactOptional().describe("The run's own code asked another entity."),
    }),
    event('step_end', {
      step_id: z.string(),
      status: z.enum(['completed', 'failed', 'cancelled']),
      output: json().exactOptional(),
      error: failure.exactOptional(),
      usage: Usage.exactOptional().describe("The usage of the member's run."),
      usage_by_model: z.array(ModelUsage).exactOptional(),
      state: jsonObject().exactOptional().describe("The session's state after the step, with `include=prompts`."),
      duration_ms: milliseconds,
    }),
    event('run_end', {
      status: RunStatus,
      usage: Usage.nullable(),
      cache_hit: z.boolean(),
      cancellation_reason: z.string().exactOptional(),
    }),
    event('run_error', { error: RunError }),
  ]),
) satisfies z.ZodType<CoreRunEvent>
export type RunEvent = z.infer<typeof RunEvent>

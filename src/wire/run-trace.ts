import { z } from 'zod'
import type { RunTrace as CoreRunTrace } from '../core/events/trace.ts'
import { json, jsonObject, text, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { Cost, EntityKind, RunStatus, Usage } from './event.ts'
import { pageQuery } from './list.ts'
import { aboutRetrieval, RetrievalHit } from './retrieval.ts'

const TracedRetrieval = z.object({
  query: z.string(),
  ...aboutRetrieval,
  passages: z.array(
    RetrievalHit.extend({
      index: z
        .int()
        .nullable()
        .describe('Its number in the prompt. Null if it was found but not included in the prompt.'),
    }),
  ),
})

const TracedToolCall = z.object({
  call_id: z.string(),
  name: z.string(),
  input: json(),
  output: json().exactOptional(),
  error: z.object({ message: z.string() }).exactOptional(),
  denied: z.literal(true).exactOptional().describe('The call was not approved and not made.'),
  duration_ms: z.number().nullable().describe('Null while there is no result.'),
})

const TracedCall = z.object({
  call_id: z.string(),
  model: z.string(),
  seq: z.int().describe('The sequence number of its first event.'),
  at: timestamp(),
  messages: json().describe(
    'The exact prompt: system message, history, passages. Null if parts of it are no longer available.',
  ),
  tools: json().describe('The tool definitions sent to the model. Null without tools.'),
  settings: jsonObject().nullable().describe('All other settings of the call, without keys and tokens.'),
  retrievals: z.array(TracedRetrieval).describe('The knowledge searches since the preceding call.'),
  text: z.string(),
  reasoning: z.string(),
  tool_calls: z.array(TracedToolCall),
  finish_reason: z.string().nullable().describe('Null while the call is running.'),
  usage: Usage.nullable(),
  cost: Cost.nullable().describe('By the prices of now. Null: not known.'),
  duration_ms: z.number().nullable(),
  first_text_ms: z
    .number()
    .exactOptional()
    .describe('From the call to the first text or reasoning of the answer. Absent when it had none.'),
})

export const RunTrace = component(
  'RunTrace',
  z.object({
    run_id: z.string(),
    session_id: z.string(),
    parent_run_id: z.string().nullable(),
    entity_id: z.string(),
    entity_kind: EntityKind,
    status: RunStatus,
    child_run_ids: z.array(z.string()).describe('The runs of team members. Each has its own trace.'),
    calls: z.array(TracedCall).describe('The model calls in order.'),
    retrievals: z.array(TracedRetrieval).describe('On the last page: the knowledge searches after the last call.'),
    count: z.int().describe('The number of calls in this page.'),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  }),
) satisfies z.ZodType<CoreRunTrace>
export type RunTrace = z.infer<typeof RunTrace>

export const RunTraceQuery = z.object({
  call: text().optional().describe('The `call_id` of a model call: only this call, on one page.'),
  ...pageQuery,
})

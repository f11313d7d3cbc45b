import { z } from 'zod'
import type { RunTrace as CoreRunTrace } from '../core/trace.ts'
import { component } from './document/component.ts'
import { json, jsonObject, timestamp } from './document/field.ts'
import { EntityKind, RunStatus, Usage } from './event.ts'
import { pageQuery } from './list.ts'

const place = { line_start: z.int().exactOptional(), line_end: z.int().exactOptional(), page: z.int().exactOptional() }

const TracedPassage = z.object({
  chunk_id: z.string(),
  source: z.string(),
  score: z.number(),
  index: z.int().nullable().describe('The number by which the prompt has it; null: it was found and not told.'),
  document_id: z.string().exactOptional(),
  ...place,
})

const TracedToolCall = z.object({
  call_id: z.string(),
  name: z.string(),
  input: json(),
  output: json().exactOptional(),
  error: z.object({ message: z.string() }).exactOptional(),
  duration_ms: z.number().nullable().describe('Null while it has no result.'),
})

const TracedCall = z.object({
  call_id: z.string(),
  model: z.string(),
  seq: z.int().describe('Number of its first event.'),
  at: timestamp(),
  messages: json().describe('The exact prompt: system message, history, passages; null when it can not be made whole.'),
  tools: json().describe('Tool definitions as the model got them; null without tools.'),
  settings: jsonObject().nullable().describe('Everything else that it was called with; keys and tokens are left out.'),
  retrievals: z
    .array(z.object({ query: z.string(), passages: z.array(TracedPassage) }))
    .describe('What was found in the knowledge base since the call before.'),
  text: z.string(),
  reasoning: z.string(),
  tool_calls: z.array(TracedToolCall),
  finish_reason: z.string().nullable().describe('Null while the call goes on.'),
  usage: Usage.nullable(),
  duration_ms: z.number().nullable(),
})

/** Why a run answered as it did, as `GET /runs/{id}/trace` gives it. */
export const RunTrace = component(
  'RunTrace',
  z.object({
    run_id: z.string(),
    session_id: z.string(),
    parent_run_id: z.string().nullable(),
    entity_id: z.string(),
    entity_kind: EntityKind,
    status: RunStatus,
    child_run_ids: z.array(z.string()).describe('Runs of team members, which have traces of their own.'),
    calls: z.array(TracedCall).describe('Model calls, in their order.'),
    count: z.int().describe('Calls in this page.'),
    next_cursor: z.string().nullable().describe('Null at the end.'),
  }),
) satisfies z.ZodType<CoreRunTrace>
export type RunTrace = z.infer<typeof RunTrace>

export const RunTraceQuery = z.object(pageQuery)

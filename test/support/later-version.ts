import type { RunEventBody } from '../../src/core/event.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { recordRun } from './protocols/recorded-runs.ts'

/* What a later version may record: events of types that are unknown here, and fields that known ones don't have here. */

/** Their fields have the names of known ones, and other types. */
const unknown: JsonObject[] = [
  { type: 'note' },
  { type: 'audio_delta', text: { ssml: '<p>' }, lengths: [1, 2], later: 7, data: null },
  { type: 'plan', call_id: 7, name: { first: 'a' }, model: ['m'], query: 5, status: { is: 'new' }, step_id: {} },
  { type: 'text_delta_2', child_run_id: 5, approved: null, answers: null, messages: { inside: { a: 'b' } } },
  { type: 'constructor', usage: 'none', usage_by_model: 'none', results: 1, index: 'one' },
]

const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7, audio_tokens: 2 }
const known: JsonObject[] = [
  {
    type: 'model_call_start',
    call_id: 'c1',
    model: 'm',
    messages: [{ role: 'user', content: 'Hello' }],
    speed: 'slow',
  },
  { type: 'reasoning_delta', text: 'Hm.', sign: 'abc' },
  { type: 'text_delta', text: 'Good ' },
  { type: 'text_delta', text: 'day', voice: 'low' },
  { type: 'data', data: { a: 1 }, schema_id: 's' },
  { type: 'tool_call', call_id: 't1', name: 'look', input: { at: 'it' }, place: 'here' },
  { type: 'tool_result', call_id: 't1', name: 'look', output: 'seen', duration_ms: 3, place: 'here' },
  { type: 'step_start', step_id: 's1', name: 'first', color: 'red' },
  { type: 'step_end', step_id: 's1', status: 'completed', duration_ms: 2, cost_usd: 1 },
  { type: 'model_call_end', call_id: 'c1', model: 'm', usage, finish_reason: 'stop', duration_ms: 5, region: 'eu' },
]
const end: RunEventBody = { type: 'run_end', status: 'completed', usage, cache_hit: false }

/** An unknown event before and after each known one. */
const bodies = known.flatMap((body, place) => [unknown[place % unknown.length] as JsonObject, body]).concat(unknown)

/** A run as a later version records it, after an earlier version could have begun it. */
export const laterRun = recordRun('later', [...(bodies as unknown as RunEventBody[]), end])

/** The events as its record has them. */
export const laterEvents = laterRun.events.slice(1, -1)

/** What the row has more than this version writes. */
export const laterFields = { begun: { priority: { of: 'the run' } }, ended: { score: [1, 2] } }

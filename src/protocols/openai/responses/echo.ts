import type { JsonObject } from '../../../core/json.ts'
import type { RunRecord } from '../../../core/run.ts'

/** What answers repeat of a request, and whether they may be had again. */
export interface Echo {
  model: string
  background: boolean
  store: boolean
  instructions: string | null
  previous_response_id: string | null
  metadata: JsonObject
  max_output_tokens: number | null
  max_tool_calls: number | null
  parallel_tool_calls: boolean
  reasoning: JsonObject | null
  temperature: number
  top_p: number
  presence_penalty: number
  frequency_penalty: number
  top_logprobs: number
  text: JsonObject
  tool_choice: string | JsonObject
  tools: JsonObject[]
  truncation: string
  user: string | null
  service_tier: string
  safety_identifier: string | null
  prompt_cache_key: string | null
}

/** The name under which a run has the echo (`RunGiven.protocol`). */
export const protocolName = 'responses'

const defaults: Omit<Echo, 'model'> = {
  background: false,
  store: true,
  instructions: null,
  previous_response_id: null,
  metadata: {},
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  reasoning: null,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  truncation: 'disabled',
  user: null,
  service_tier: 'default',
  safety_identifier: null,
  prompt_cache_key: null,
}

const usual = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, JSON.stringify(value)]))

/** What is recorded with a run: the fields that differ from the defaults. */
export function kept(echo: Partial<Echo>): JsonObject {
  const entries = Object.entries(echo).filter(
    ([name, value]) => value !== undefined && name !== 'model' && JSON.stringify(value) !== usual[name],
  )
  return Object.fromEntries(entries) as JsonObject
}

/** Of a run that came in any way. */
export function echoOf({ entity_id, background, given }: Pick<RunRecord, 'entity_id' | 'background' | 'given'>): Echo {
  const own = given?.protocol?.name === protocolName ? given.protocol.echo : undefined
  return { ...defaults, model: entity_id, ...(own === undefined ? { background } : (own as Partial<Echo>)) }
}

import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/run.ts'

const nothing: Usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }

/** As chat completions have it. Zeros for what is not known: clients add them up. */
export function completionUsage(usage: Usage | null): JsonObject {
  const { input_tokens, output_tokens, total_tokens, cached_input_tokens = 0, reasoning_tokens = 0 } = usage ?? nothing
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens,
    prompt_tokens_details: { cached_tokens: cached_input_tokens },
    completion_tokens_details: { reasoning_tokens },
  }
}

/** As responses have it. */
export function responseUsage(usage: Usage | null): JsonObject {
  const { input_tokens, output_tokens, total_tokens, ...details } = usage ?? nothing
  const { cached_input_tokens = 0, cache_write_tokens = 0, reasoning_tokens = 0 } = details
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: cached_input_tokens, cache_write_tokens },
    output_tokens,
    output_tokens_details: { reasoning_tokens },
    total_tokens,
  }
}

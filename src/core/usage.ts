import type { Usage } from './run.ts'

/** Adds a model call's usage; `null` before the first call. */
export function addUsage(sum: Usage | null, { input_tokens, output_tokens, total_tokens }: Usage): Usage {
  return {
    input_tokens: (sum?.input_tokens ?? 0) + input_tokens,
    output_tokens: (sum?.output_tokens ?? 0) + output_tokens,
    total_tokens: (sum?.total_tokens ?? 0) + total_tokens,
  }
}

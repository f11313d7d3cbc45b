import type { Usage } from './run.ts'

/** The sum of what model calls used; `null` before the first of them. */
export function addUsage(sum: Usage | null, { input_tokens, output_tokens, total_tokens }: Usage): Usage {
  return {
    input_tokens: (sum?.input_tokens ?? 0) + input_tokens,
    output_tokens: (sum?.output_tokens ?? 0) + output_tokens,
    total_tokens: (sum?.total_tokens ?? 0) + total_tokens,
  }
}

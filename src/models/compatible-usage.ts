import type { OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible'

type ToUsage = NonNullable<OpenAICompatibleProviderSettings['convertUsage']>
type Usage = ReturnType<ToUsage>

/** What OpenAI-compatible servers report; each reports a part of it. */
interface Reported {
  prompt_tokens?: number | null
  completion_tokens?: number | null
  total_tokens?: number | null
  prompt_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null
  completion_tokens_details?: { reasoning_tokens?: number | null } | null
  /** DeepSeek's word for cached tokens. */
  prompt_cache_hit_tokens?: number | null
}

/**
 * The usage of a call. The package makes zeros of what a server does not report, and takes reasoning for a part of the
 * completion, which it is not at xAI.
 */
export const compatibleUsage: ToUsage = (raw) => {
  const reported = (raw ?? {}) as Reported
  const { prompt_tokens, completion_tokens, prompt_tokens_details: prompt, completion_tokens_details: more } = reported
  const cached = prompt?.cached_tokens ?? reported.prompt_cache_hit_tokens ?? undefined
  const written = prompt?.cache_write_tokens ?? undefined
  const reasoning = more?.reasoning_tokens ?? undefined
  const output = outputOf(reported, reasoning)
  const usage: Usage = {
    inputTokens: {
      total: prompt_tokens ?? undefined,
      noCache: prompt_tokens == null ? undefined : prompt_tokens - (cached ?? 0) - (written ?? 0),
      cacheRead: cached,
      cacheWrite: written,
    },
    outputTokens: {
      total: output,
      text: output === undefined ? undefined : output - (reasoning ?? 0),
      reasoning,
    },
  }
  if (raw != null) usage.raw = raw as NonNullable<Usage['raw']>
  return usage

  function outputOf({ total_tokens: total }: Reported, thought = 0): number | undefined {
    if (completion_tokens == null) return undefined
    const isApart = total === (prompt_tokens ?? 0) + completion_tokens + thought || thought > completion_tokens
    return isApart ? completion_tokens + thought : completion_tokens
  }
}

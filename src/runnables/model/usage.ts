import type { LanguageModelUsage } from 'ai'
import type { ModelObject } from '../../core/model.ts'
import { type Usage, usageDetails } from '../../core/run.ts'

type Model = Extract<ModelObject, { specificationVersion: 'v4' }>
type Streamed = Awaited<ReturnType<Model['doStream']>>
export type StreamPart = Streamed['stream'] extends ReadableStream<infer PART> ? PART : never
type ProviderUsage = Extract<StreamPart, { type: 'finish' }>['usage']

type Reported = Pick<LanguageModelUsage, 'inputTokens' | 'outputTokens' | 'totalTokens'> &
  Partial<Pick<LanguageModelUsage, 'inputTokenDetails' | 'outputTokenDetails'>>

/** Null when the provider reports no tokens. A detail that it does not report is absent, which is not zero. */
export function toUsage(reported: Reported): Usage | null {
  const { inputTokens, outputTokens, totalTokens, inputTokenDetails: input, outputTokenDetails: output } = reported
  if (inputTokens === undefined && outputTokens === undefined && totalTokens === undefined) return null
  const input_tokens = inputTokens ?? 0
  const output_tokens = outputTokens ?? 0
  const usage: Usage = { input_tokens, output_tokens, total_tokens: totalTokens ?? input_tokens + output_tokens }
  const details = [input?.cacheReadTokens, input?.cacheWriteTokens, output?.reasoningTokens]
  for (const [place, name] of usageDetails.entries()) {
    const count = details[place]
    if (Number.isSafeInteger(count)) usage[name] = count as number
  }
  return usage
}

/** The usage of a call as the provider gives it to the AI SDK. */
export function ofProvider({ inputTokens, outputTokens }: ProviderUsage): Usage | null {
  return toUsage({
    inputTokens: inputTokens.total,
    outputTokens: outputTokens.total,
    totalTokens: undefined,
    inputTokenDetails: {
      noCacheTokens: inputTokens.noCache,
      cacheReadTokens: inputTokens.cacheRead,
      cacheWriteTokens: inputTokens.cacheWrite,
    },
    outputTokenDetails: { textTokens: outputTokens.text, reasoningTokens: outputTokens.reasoning },
  })
}

/** The other way round. */
export function toSdkUsage(usage: Usage | null): LanguageModelUsage {
  return {
    inputTokens: usage?.input_tokens,
    inputTokenDetails: {
      noCacheTokens: undefined,
      cacheReadTokens: usage?.cached_input_tokens,
      cacheWriteTokens: usage?.cache_write_tokens,
    },
    outputTokens: usage?.output_tokens,
    outputTokenDetails: { textTokens: undefined, reasoningTokens: usage?.reasoning_tokens },
    totalTokens: usage?.total_tokens,
  }
}

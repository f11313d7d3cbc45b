import type { CompatibleModel, ModelObject } from '../core/model.ts'
import { compatibleUsage } from './compatible-usage.ts'

export async function compatibleModel(
  name: string,
  { baseURL, model, apiKey }: CompatibleModel,
  fetch: typeof globalThis.fetch,
): Promise<ModelObject> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const provider = createOpenAICompatible({
    name,
    baseURL,
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch,
    convertUsage: compatibleUsage,
    ...(apiKey === undefined ? {} : { apiKey }),
  })
  return provider.languageModel(model)
}

import type { CompatibleModel, ModelObject } from '../core/model.ts'

const connectTimeoutMs = 10_000
/** A local model may be loaded from disk before its first byte. */
const headersTimeoutMs = 600_000
const bodyTimeoutMs = 300_000

/** A model behind an OpenAI-compatible endpoint, called through undici. */
export async function compatibleModel(name: string, { baseURL, model, apiKey }: CompatibleModel): Promise<ModelObject> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const provider = createOpenAICompatible({
    name,
    baseURL,
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch: await outgoingFetch(),
    ...(apiKey === undefined ? {} : { apiKey }),
  })
  return provider.languageModel(model)
}

let shared: Promise<typeof globalThis.fetch> | undefined

/** undici's fetch with time limits on connecting, on the answer's head and between two pieces of its body. */
function outgoingFetch(): Promise<typeof globalThis.fetch> {
  shared ??= import('undici').then(({ Agent, fetch }) => {
    const dispatcher = new Agent({
      connect: { timeout: connectTimeoutMs },
      headersTimeout: headersTimeoutMs,
      bodyTimeout: bodyTimeoutMs,
    })
    const send = (input: Parameters<typeof fetch>[0], init?: Parameters<typeof fetch>[1]) =>
      fetch(input, { ...init, dispatcher })
    return send as unknown as typeof globalThis.fetch
  })
  return shared
}

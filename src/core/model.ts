import type { LanguageModel } from 'ai'

/** Any OpenAI-compatible endpoint: Ollama, LM Studio, vLLM, a gateway. */
export interface CompatibleModel {
  baseURL: string
  model: string
  apiKey?: string
}

/** A model of the AI SDK, an OpenAI-compatible endpoint, or `provider/model`. */
export type ModelSetting = Exclude<LanguageModel, string> | CompatibleModel | `${string}/${string}`

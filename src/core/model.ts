import type { LanguageModel } from 'ai'

/** Any OpenAI-compatible endpoint: Ollama, LM Studio, vLLM, a gateway. */
export interface CompatibleModel {
  baseURL: string
  model: string
  apiKey?: string
}

/** A model object of the AI SDK; never a string, which the AI SDK would send to a paid gateway. */
export type ModelObject = Exclude<LanguageModel, string>

/** A model of the AI SDK, an OpenAI-compatible endpoint, or `provider/model`. */
export type ModelSetting = ModelObject | CompatibleModel | `${string}/${string}`

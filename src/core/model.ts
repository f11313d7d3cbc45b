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

/** One model, or several in the order in which they are tried. */
export type ModelChoice = ModelSetting | readonly ModelSetting[]

/** At least one. */
export function modelsOf(choice: ModelChoice): readonly [ModelSetting, ...ModelSetting[]] {
  return [choice].flat() as [ModelSetting, ...ModelSetting[]]
}

const maxModels = 8

/** Served on this machine; they need no package and no key. */
export const localProviders = ['ollama', 'lmstudio'] as const

/** Reached through a package of the user's project. */
export const packageProviders = ['openai', 'anthropic', 'google'] as const
export type PackageProvider = (typeof packageProviders)[number]

const providers: readonly string[] = [...localProviders, ...packageProviders]

export const allowedModels = "'provider/model', { baseURL, model, apiKey? }, or a model object of the AI SDK"

/** The problem with a model or a list of them, without any key; undefined if it is valid. */
export function problemOfModels(value: unknown): string | undefined {
  if (!Array.isArray(value)) return problemOfModel(value)
  if (value.length === 0 || value.length > maxModels) return `a list has 1 to ${maxModels} models`
  return value.map(problemOfModel).find((problem) => problem !== undefined)
}

/** The problem with a model setting, without any key; undefined if it is valid. */
export function problemOfModel(value: unknown): string | undefined {
  if (typeof value === 'string') {
    const [provider, model] = splitModelName(value)
    if (model !== '' && providers.includes(provider)) return undefined
    return `write provider/model, the provider one of ${providers.join(', ')}`
  }
  if (isModelObject(value)) return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `write ${allowedModels}`
  const { baseURL, model, apiKey, ...rest } = value as Partial<CompatibleModel>
  if (typeof baseURL !== 'string' || !URL.canParse(baseURL) || !/^https?:/.test(baseURL)) {
    return '`baseURL` must be an http or https address'
  }
  if (typeof model !== 'string' || model === '') return '`model` must name a model of that endpoint'
  if (apiKey !== undefined && typeof apiKey !== 'string') return '`apiKey` must be a string'
  const unknownKey = Object.keys(rest)[0]
  return unknownKey === undefined ? undefined : `\`${unknownKey}\` is not known; allowed: baseURL, model, apiKey`
}

export function isModelObject(value: unknown): value is ModelObject {
  return typeof value === 'object' && value !== null && 'specificationVersion' in value && 'doStream' in value
}

/** Splits at the first slash; model names may contain more. */
export function splitModelName(name: string): [provider: string, model: string] {
  const slash = name.indexOf('/')
  return slash < 0 ? [name, ''] : [name.slice(0, slash), name.slice(slash + 1)]
}

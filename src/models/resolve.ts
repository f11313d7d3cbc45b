import { AppError } from '../core/error.ts'
import type { CompatibleModel, ModelObject, ModelSetting } from '../core/model.ts'
import { compatibleModel } from './compatible.ts'
import { type PackageProvider, packageModel, packageProviders } from './packages.ts'

export interface ResolveOptions {
  /** Folder of the user's project: where provider packages are looked for. Default: the working directory. */
  root?: string | undefined
  /** Default: `process.env`. Only `OLLAMA_HOST` and what provider packages read themselves come from it. */
  env?: Readonly<Record<string, string | undefined>> | undefined
}

const localProviders = ['ollama', 'lmstudio'] as const
const knownProviders = [...localProviders, ...packageProviders].join(', ')

/** Does no request: an unreachable endpoint shows at the first call. Throws `invalid_request` when it can't be resolved. */
export async function resolveModel(setting: ModelSetting, options: ResolveOptions = {}): Promise<ModelObject> {
  assertModel(setting)
  if (isModelObject(setting)) return setting
  if (typeof setting !== 'string') return compatibleModel('compatible', setting)
  const [provider, model] = splitName(setting)
  const env = options.env ?? process.env
  if (provider === 'ollama') return compatibleModel('ollama', { baseURL: ollamaURL(env.OLLAMA_HOST), model })
  if (provider === 'lmstudio') return compatibleModel('lmstudio', { baseURL: 'http://127.0.0.1:1234/v1', model })
  return packageModel(provider as PackageProvider, model, options.root ?? process.cwd())
}

/** What lists and events call the model: `provider/model`, without keys and addresses. */
export function describeModel(setting: ModelSetting): string {
  if (typeof setting === 'string') return setting
  return isModelObject(setting) ? `${setting.provider}/${setting.modelId}` : setting.model
}

/** Throws `invalid_request`, with the path `model`, for what is not a model setting. */
export function assertModel(value: unknown): asserts value is ModelSetting {
  if (typeof value === 'string') {
    const [provider, model] = splitName(value)
    const known = [...localProviders, ...packageProviders] as readonly string[]
    if (model !== '' && known.includes(provider)) return
    throw wrongModel(`'${value}' is not a model: write provider/model, the provider one of ${knownProviders}`)
  }
  if (isModelObject(value)) return
  if (typeof value !== 'object' || value === null) throw wrongModel('this is not a model')
  const { baseURL, model, apiKey, ...rest } = value as Partial<CompatibleModel>
  if (typeof baseURL !== 'string' || !URL.canParse(baseURL) || !/^https?:/.test(baseURL)) {
    throw wrongModel('`baseURL` must be an http or https address')
  }
  if (typeof model !== 'string' || model === '') throw wrongModel('`model` must name a model of that endpoint')
  if (apiKey !== undefined && typeof apiKey !== 'string') throw wrongModel('`apiKey` must be a string')
  const unknownKey = Object.keys(rest)[0]
  if (unknownKey !== undefined) throw wrongModel(`\`${unknownKey}\` is not known; allowed: baseURL, model, apiKey`)
}

function wrongModel(problem: string): AppError {
  const message = `${problem}. A model is 'provider/model', { baseURL, model, apiKey? }, or a model object of the AI SDK.`
  return new AppError('invalid_request', message, { details: [{ path: 'model', message }] })
}

function isModelObject(value: unknown): value is ModelObject {
  return typeof value === 'object' && value !== null && 'specificationVersion' in value && 'doStream' in value
}

function splitName(name: string): [provider: string, model: string] {
  const slash = name.indexOf('/')
  return slash < 0 ? [name, ''] : [name.slice(0, slash), name.slice(slash + 1)]
}

/** Ollama's own variable: a host, `host:port` or an address; 0.0.0.0 is where it listens, not where it is reached. */
function ollamaURL(host: string | undefined): string {
  const fallback = 'http://127.0.0.1:11434/v1'
  if (host === undefined || host.trim() === '') return fallback
  const text = host.trim()
  const address = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!URL.canParse(address)) return fallback
  const url = new URL(address)
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  if (url.port === '' && address === `http://${text}`) url.port = '11434'
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}/v1`
}

import { AppError } from '../core/error.ts'
import {
  allowedModels,
  isModelObject,
  type ModelObject,
  type ModelSetting,
  type PackageProvider,
  problemOfModel,
  splitModelName,
} from '../core/model.ts'
import { compatibleModel } from './compatible.ts'
import { lmstudioURL, ollamaURL } from './local.ts'
import { packageModel } from './packages.ts'

export interface ResolveOptions {
  /** The user's project, where provider packages are looked for. Default: the working directory. */
  root?: string | undefined
  /** Default: `process.env`. Only `OLLAMA_HOST` and `OPENAI_BASE_URL` are read; provider packages read their own variables. */
  env?: Readonly<Record<string, string | undefined>> | undefined
  /** Default: undici's fetch, with time limits. */
  fetch?: typeof globalThis.fetch | undefined
}

/** Sends no request. Throws `invalid_request` when the model can't be resolved. */
export async function resolveModel(setting: ModelSetting, options: ResolveOptions = {}): Promise<ModelObject> {
  assertModel(setting)
  if (isModelObject(setting)) return setting
  const fetch = options.fetch ?? (await (await import('./outgoing.ts')).outgoingFetch())
  if (typeof setting !== 'string') return compatibleModel('compatible', setting, fetch)
  const [provider, model] = splitModelName(setting)
  const env = options.env ?? process.env
  if (provider === 'ollama') return compatibleModel('ollama', { baseURL: `${ollamaURL(env)}/v1`, model }, fetch)
  if (provider === 'lmstudio') return compatibleModel('lmstudio', { baseURL: `${lmstudioURL}/v1`, model }, fetch)
  return packageModel(provider as PackageProvider, model, { root: options.root ?? process.cwd(), env, fetch })
}

/** Throws `invalid_request` with the path `model`. */
export function assertModel(value: unknown): asserts value is ModelSetting {
  const problem = problemOfModel(value)
  if (problem === undefined) return
  const shown = typeof value === 'string' ? `'${value}'` : 'this'
  const message = `${shown} is not a model: ${problem}. A model is ${allowedModels}.`
  throw new AppError('invalid_request', message, { details: [{ path: 'model', message }] })
}

import type { ResolvedConfig } from '../../config/types.ts'
import { isModelObject, type ModelSetting, type PackageProvider, packageProviders } from '../../core/model.ts'
import { type ModelType, modelCacheFolder } from '../../knowledge/embedders/model-files.ts'
import { findModel, defaultModel as sentenceModel } from '../../knowledge/embedders/transformers.ts'
import { crossEncoder } from '../../knowledge/rerankers/cross-encoder.ts'
import { describeModel } from '../../models/name.ts'
import { hasPackage, packageName, providerPackages } from '../../models/packages.ts'
import { type ModelProblem, reachModel } from '../../models/reach.ts'

/** A model in use that can't answer now: whose it is, why, and what to do. */
export interface ModelTrouble extends ModelProblem {
  name: string
  entityIds: string[]
  /** Servers come and go; a package or a key is there or is not. */
  isLasting: boolean
}

export interface TroubleOptions {
  signal: AbortSignal
  env?: Readonly<Record<string, string | undefined>>
}

export interface SentenceModel {
  model?: string | undefined
  dtype?: ModelType | undefined
}

/** How long servers on this machine may take to list their models. */
const patienceMs = 2_000

/** The troubles of the models in use, in their order. Asks servers on this machine. Throws only when aborted. */
export async function modelTroubles(
  { entities, root }: ResolvedConfig,
  { signal, env = process.env }: TroubleOptions,
): Promise<ModelTrouble[]> {
  const used = new Map<string, { setting: ModelSetting; entityIds: string[] }>()
  for (const [id, { modelSettings = [] }] of entities) {
    for (const setting of modelSettings) {
      const key = `${describeModel(setting)} ${isModelObject(setting) || typeof setting === 'string' ? '' : setting.baseURL}`
      const known = used.get(key)
      if (known === undefined) used.set(key, { setting, entityIds: [id] })
      else if (!known.entityIds.includes(id)) known.entityIds.push(id)
    }
  }
  const late = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
  const troubles = await Promise.all(
    [...used.values()].map(async ({ setting, entityIds }) => {
      const lacking = typeof setting === 'string' ? lackingOf(setting, root, env) : undefined
      const found = lacking ?? (await reachModel(setting, { signal: late, env }))
      return found && { ...found, name: describeModel(setting), entityIds, isLasting: lacking !== undefined }
    }),
  )
  signal.throwIfAborted()
  return troubles.filter((trouble) => trouble !== undefined)
}

/** What a model named `provider/model` lacks in the project. */
function lackingOf(name: string, root: string, env: NonNullable<TroubleOptions['env']>): ModelProblem | undefined {
  const provider = name.split('/', 1)[0] as PackageProvider
  if (!packageProviders.includes(provider)) return undefined
  const library = packageName(provider)
  if (!hasPackage(provider, root)) return { problem: `needs the package ${library}`, fix: `npm install ${library}` }
  const { keyVariable } = providerPackages[provider]
  if (env[keyVariable]) return undefined
  return { problem: `needs a key, and ${keyVariable} is not set`, fix: `put ${keyVariable}=… into .env` }
}

/** A sentence model, by default the usual one, and what it lacks to be used. */
export async function sentenceModelState({ model = sentenceModel, dtype }: SentenceModel) {
  const folder = modelCacheFolder()
  const found = await findModel(folder, model, dtype)
  return { model, folder, lack: 'lack' in found ? found.lack : undefined }
}

/** Why the cross-encoder of the configuration can't be used; undefined if it can, or if there is none. */
export async function rerankerProblem({ knowledge, root }: ResolvedConfig): Promise<string | undefined> {
  return knowledge.rerank && crossEncoder({ ...knowledge.rerank, root }).problem()
}

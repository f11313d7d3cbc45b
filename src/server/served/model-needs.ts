import type { ResolvedConfig } from '../../config/types.ts'
import { type PackageProvider, packageProviders } from '../../core/model.ts'
import { modelCacheFolder } from '../../knowledge/embedders/model-files.ts'
import { findModel, defaultModel as sentenceModel } from '../../knowledge/embedders/transformers.ts'
import { crossEncoder } from '../../knowledge/rerankers/cross-encoder.ts'
import { hasPackage, packageName, providerPackages } from '../../models/packages.ts'

/** What a model named `provider/model` lacks, and what to do; undefined if nothing is missing. */
export function modelLacks(name: string, root: string, env = process.env): { lack: string; fix: string } | undefined {
  const provider = name.split('/', 1)[0] as PackageProvider
  if (!packageProviders.includes(provider)) return undefined
  const library = packageName(provider)
  if (!hasPackage(provider, root)) return { lack: `needs the package ${library}`, fix: `npm install ${library}` }
  const { keyVariable } = providerPackages[provider]
  if (env[keyVariable]) return undefined
  return { lack: `needs a key, and ${keyVariable} is not set`, fix: `put ${keyVariable}=… into .env` }
}

/** The best sentence model when it is in the cache; else the reason why it can't be used. */
export async function sentenceModelState(): Promise<{ model: string; folder: string; missing: string | undefined }> {
  const folder = modelCacheFolder()
  const found = await findModel(folder, sentenceModel)
  return { model: sentenceModel, folder, missing: 'missing' in found ? found.missing : undefined }
}

/** Why the cross-encoder of the configuration can't be used; undefined if it can, or if there is none. */
export async function rerankerProblem({ knowledge, root }: ResolvedConfig): Promise<string | undefined> {
  return knowledge.rerank && crossEncoder({ ...knowledge.rerank, root }).problem()
}

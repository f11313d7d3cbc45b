import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AppError } from '../core/error.ts'
import type { ModelObject } from '../core/model.ts'

export const packageProviders = ['openai', 'anthropic', 'google'] as const
export type PackageProvider = (typeof packageProviders)[number]

/** A model of a provider package that the user's project has installed; the package reads its key itself. */
export async function packageModel(provider: PackageProvider, model: string, root: string): Promise<ModelObject> {
  const name = `@ai-sdk/${provider}`
  const exported = (await load(name, provider, model, root))[provider]
  if (typeof exported !== 'function') {
    throw unusable(`The package '${name}' has no \`${provider}\`; run: npm install ${name}@latest`)
  }
  return (exported as (model: string) => ModelObject)(model)
}

async function load(name: string, provider: string, model: string, root: string): Promise<Record<string, unknown>> {
  let file: string
  try {
    file = createRequire(join(root, 'package.json')).resolve(name)
  } catch (cause) {
    throw unusable(
      `The model '${provider}/${model}' needs the package '${name}', which this project does not have. Run: npm install ${name}`,
      cause,
    )
  }
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (cause) {
    throw unusable(`The package '${name}' does not load. Run: npm install ${name}@latest`, cause)
  }
}

function unusable(message: string, cause?: unknown): AppError {
  return new AppError('invalid_request', message, { details: [{ path: 'model', message }], cause })
}

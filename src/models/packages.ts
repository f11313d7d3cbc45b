import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AppError } from '../core/error.ts'
import type { ModelObject, PackageProvider } from '../core/model.ts'

/** Names of a provider's factory, newest first, and the variable that the package reads its key from. */
export const providerPackages: Record<PackageProvider, { factories: readonly string[]; keyVariable: string }> = {
  openai: { factories: ['createOpenAI'], keyVariable: 'OPENAI_API_KEY' },
  anthropic: { factories: ['createAnthropic'], keyVariable: 'ANTHROPIC_API_KEY' },
  google: { factories: ['createGoogle', 'createGoogleGenerativeAI'], keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY' },
}

export interface PackageOptions {
  root: string
  /** Only `OPENAI_BASE_URL` is read. */
  env: Readonly<Record<string, string | undefined>>
  fetch: typeof globalThis.fetch
}

/** A model of a provider package in the user's project; the package reads its key itself. */
export async function packageModel(
  provider: PackageProvider,
  model: string,
  { root, env, fetch }: PackageOptions,
): Promise<ModelObject> {
  const name = packageName(provider)
  const loaded = await load(name, provider, model, root)
  const { factories } = providerPackages[provider]
  const create = factories.map((factory) => loaded[factory]).find((exported) => typeof exported === 'function')
  if (create === undefined) {
    throw unusable(`The package '${name}' has no \`${factories[0]}\`; run: npm install ${name}@latest`)
  }
  const made = (create as (settings: { fetch: typeof globalThis.fetch }) => Provider)({ fetch })
  return provider === 'openai' && isCompatible(env.OPENAI_BASE_URL) && made.chat !== undefined
    ? made.chat(model)
    : made(model)
}

type Provider = ((model: string) => ModelObject) & { chat?: (model: string) => ModelObject }

/** An address that is not OpenAI's own: such servers answer chat completions, and few of them responses. */
function isCompatible(baseURL: string | undefined): boolean {
  return baseURL !== undefined && URL.canParse(baseURL) && new URL(baseURL).hostname !== 'api.openai.com'
}

export function hasPackage(provider: PackageProvider, root: string): boolean {
  try {
    find(packageName(provider), root)
    return true
  } catch {
    return false
  }
}

export function packageName(provider: PackageProvider): string {
  return `@ai-sdk/${provider}`
}

function find(name: string, root: string): string {
  return createRequire(join(root, 'package.json')).resolve(name)
}

async function load(name: string, provider: string, model: string, root: string): Promise<Record<string, unknown>> {
  let file: string
  try {
    file = find(name, root)
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

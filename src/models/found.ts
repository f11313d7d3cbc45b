import { type PackageProvider, packageProviders } from '../core/model.ts'
import { lmstudioURL, ollamaURL } from './local.ts'
import { hasPackage, packageName, providerPackages } from './packages.ts'
import type { ResolveOptions } from './resolve.ts'

/** A model that could be used. Nothing selects it automatically. */
export interface FoundModel {
  /** Why it was found: `OPENAI_API_KEY is set`. */
  evidence: string
  /** What to write in the config to use it. */
  write: string
  /** The command to run first, if something is missing. */
  install: string | undefined
}

/** Current when this version was released; any other model of the provider works too. */
const examples: Record<PackageProvider, string> = {
  openai: 'gpt-5.4-mini',
  anthropic: 'claude-sonnet-5-5',
  google: 'gemini-flash-latest',
}

const defaultPatienceMs = 500

export interface FindOptions extends ResolveOptions {
  /** How long to wait for servers on this machine; default 500 ms. */
  patienceMs?: number | undefined
  signal?: AbortSignal | undefined
}

/**
 * Models that could be configured: first those of Ollama and LM Studio, which are asked; then providers with a key in
 * the environment, which are not asked. Never throws, and never shows a key.
 */
export async function findModels({
  patienceMs = defaultPatienceMs,
  signal: stopped,
  ...options
}: FindOptions = {}): Promise<FoundModel[]> {
  const env = options.env ?? process.env
  const root = options.root ?? process.cwd()
  const late = AbortSignal.timeout(patienceMs)
  const signal = stopped === undefined ? late : AbortSignal.any([late, stopped])
  const fetch = options.fetch ?? (await import('./outgoing.ts')).outgoingFetch()
  const ollama = ollamaURL(env)
  const local = await Promise.all([
    askLocal('Ollama', ollama, 'ollama', () => fetch(`${ollama}/api/tags`, { signal })),
    askLocal('LM Studio', lmstudioURL, 'lmstudio', () => fetch(`${lmstudioURL}/v1/models`, { signal })),
  ])
  return [...local.flat(), ...packageProviders.flatMap((provider) => findKey(provider, env, root))]
}

function findKey(provider: PackageProvider, env: NonNullable<ResolveOptions['env']>, root: string): FoundModel[] {
  const { keyVariable } = providerPackages[provider]
  if (env[keyVariable] === undefined || env[keyVariable] === '') return []
  return [
    {
      evidence: `${keyVariable} is set`,
      write: `model: '${provider}/${examples[provider]}'`,
      install: hasPackage(provider, root) ? undefined : `npm install ${packageName(provider)}`,
    },
  ]
}

async function askLocal(
  name: string,
  url: string,
  provider: string,
  ask: () => Promise<Response>,
): Promise<FoundModel[]> {
  try {
    const model = firstName(await (await ask()).json())
    if (model === undefined) return []
    return [{ evidence: `${name} at ${url} has ${model}`, write: `model: '${provider}/${model}'`, install: undefined }]
  } catch {
    return []
  }
}

function firstName(listed: unknown): string | undefined {
  const { models, data } = (listed ?? {}) as { models?: { name?: unknown }[]; data?: { id?: unknown }[] }
  const names = [...(models ?? []).map(({ name }) => name), ...(data ?? []).map(({ id }) => id)]
  return names.find((name): name is string => typeof name === 'string' && !/embed/i.test(name))
}

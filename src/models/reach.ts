import { isModelObject, type ModelSetting, splitModelName } from '../core/model.ts'
import { lmstudioURL, ollamaURL } from './local.ts'
import type { ResolveOptions } from './resolve.ts'

/** Why a model can't answer now, and what to do. */
export interface ModelProblem {
  problem: string
  fix: string
}

export interface ReachOptions extends Pick<ResolveOptions, 'env' | 'fetch'> {
  signal: AbortSignal
}

interface Place {
  /** What serves it: `Ollama`, or an address. */
  name: string
  listURL: string
  key?: string | undefined
  start: string
  get(model: string, listed: readonly string[]): string
}

const mostBytes = 4 * 1024 * 1024
const mostNamed = 5

/**
 * Whether a server on this machine answers and lists the model. Undefined when nothing is wrong, and for what can't be known:
 * model objects, other machines, servers without a list. Throws only when aborted.
 */
export async function reachModel(setting: ModelSetting, options: ReachOptions): Promise<ModelProblem | undefined> {
  if (isModelObject(setting)) return undefined
  const place = placeOf(setting, options.env ?? process.env)
  if (place === undefined || !isLoopback(place.listURL)) return undefined
  const model = typeof setting === 'string' ? splitModelName(setting)[1] : setting.model
  const fetch = options.fetch ?? (await import('./outgoing.ts')).outgoingFetch()
  const { signal } = options
  let listed: string[] | undefined
  try {
    const headers = place.key === undefined ? {} : { authorization: `Bearer ${place.key}` }
    const answer = await fetch(place.listURL, { headers, signal, redirect: 'manual' })
    if (answer.status === 401 || answer.status === 403) {
      await answer.body?.cancel()
      return { problem: `${place.name} refuses the key`, fix: 'set the `apiKey` of the model' }
    }
    listed = answer.ok ? namesIn(await readSome(answer)) : undefined
    if (!answer.ok) await answer.body?.cancel()
  } catch (error) {
    if (signal.aborted && !isTimeout(signal.reason)) throw error
    const silence = isTimeout(signal.reason) ? 'does not answer' : 'is not running'
    return { problem: `${place.name} ${silence} at ${new URL(place.listURL).origin}`, fix: place.start }
  }
  if (listed === undefined || listed.some((name) => name === model || name === `${model}:latest`)) return undefined
  return { problem: `${place.name} does not have '${model}'`, fix: place.get(model, listed) }
}

function placeOf(setting: Exclude<ModelSetting, object> | { baseURL: string; apiKey?: string }, env: Env) {
  if (typeof setting === 'object') return addressed(setting.baseURL, setting.apiKey)
  const [provider] = splitModelName(setting)
  if (provider === 'ollama') {
    return {
      name: 'Ollama',
      listURL: `${ollamaURL(env)}/api/tags`,
      start: 'start it: ollama serve',
      get: (model: string) => `ollama pull ${model}`,
    }
  }
  if (provider === 'lmstudio') {
    return {
      name: 'LM Studio',
      listURL: `${lmstudioURL}/v1/models`,
      start: 'start its server: lms server start',
      get: (model: string) => `lms get ${model}`,
    }
  }
  return provider === 'openai' && env.OPENAI_BASE_URL ? addressed(env.OPENAI_BASE_URL, env.OPENAI_API_KEY) : undefined
}

type Env = NonNullable<ResolveOptions['env']>

function addressed(baseURL: string, key: string | undefined): Place | undefined {
  if (!URL.canParse(baseURL)) return undefined
  return {
    name: `the model server at ${new URL(baseURL).host}`,
    listURL: `${baseURL.replace(/\/+$/, '')}/models`,
    key,
    start: 'start it, or correct the address',
    get: (_, listed) => {
      const names = listed.slice(0, mostNamed).join(', ')
      return `use one that it has: ${names}${listed.length > mostNamed ? ' …' : ''}`
    },
  }
}

function isLoopback(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
}

/** Undefined for what is no list. An empty one is a list: the server has no model yet. */
function namesIn(text: string): string[] | undefined {
  let listed: { models?: unknown; data?: unknown }
  try {
    listed = (JSON.parse(text) ?? {}) as typeof listed
  } catch {
    return undefined
  }
  const all = Array.isArray(listed.models) ? listed.models : Array.isArray(listed.data) ? listed.data : undefined
  return all?.flatMap((each: { name?: unknown; id?: unknown } | null) =>
    [each?.name, each?.id].filter((name): name is string => typeof name === 'string'),
  )
}

async function readSome({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  if (body === null) return text
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > mostBytes) break
  }
  return text
}

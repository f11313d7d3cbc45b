import { type CompatibleModel, isModelObject, type ModelSetting } from '../core/model.ts'

/**
 * The names of models in lists, in the record and in prices: `provider/model`, split at the first slash, without keys and
 * addresses.
 */

/** Providers with an OpenAI-compatible address, by its host. */
const hosts: Readonly<Record<string, string>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'generativelanguage.googleapis.com': 'google',
  'api.mistral.ai': 'mistral',
  'api.deepseek.com': 'deepseek',
  'api.x.ai': 'xai',
  'api.groq.com': 'groq',
  'api.cerebras.ai': 'cerebras',
  'api.fireworks.ai': 'fireworks',
  'api.together.xyz': 'togetherai',
  'openrouter.ai': 'openrouter',
}
/** Programs that serve models on this machine, by their usual port. */
const localPorts: Readonly<Record<string, string>> = { '11434': 'ollama', '1234': 'lmstudio' }
const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

export function describeModel(setting: ModelSetting): string {
  if (typeof setting === 'string') return setting
  return isModelObject(setting) ? nameOfModel(setting) : `${providerAt(setting)}/${setting.model}`
}

/** The AI SDK's providers may name their API too, as in `openai.responses`. */
export function nameOfModel({ provider, modelId }: { provider: string; modelId: string }): string {
  return `${provider.replace(/\.(?:chat|responses|messages|completion|generative-ai)$/, '')}/${modelId}`
}

/** `compatible` for an address that names no provider: a server of one's own, or a gateway. */
function providerAt({ baseURL }: CompatibleModel): string {
  const { hostname, port } = new URL(baseURL)
  const known = loopback.has(hostname) ? localPorts[port] : hosts[hostname]
  return known ?? 'compatible'
}

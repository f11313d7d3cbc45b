import type { JsonObject } from '../../core/json.ts'
import type { ModelParams } from '../agent/hooks.ts'

const kept = [
  'toolChoice',
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'reasoning',
  'responseFormat',
  'providerOptions',
] as const satisfies (keyof ModelParams)[]

/** The other parameters of a model call, without headers, which may hold keys; undefined if there are none. */
export function settingsOf(
  params: { [KEY in keyof ModelParams]?: ModelParams[KEY] | undefined },
): JsonObject | undefined {
  const given = kept.flatMap((key) => (params[key] === undefined ? [] : [[key, params[key]]]))
  return given.length === 0 ? undefined : (withoutSecrets(Object.fromEntries(given)) as JsonObject)
}

/** The tools as the provider gets them; undefined without any. */
export function toolsOf(tools: ModelParams['tools'] | undefined): unknown {
  if (tools === undefined || tools.length === 0) return undefined
  // A function's schema may have a parameter named `token`; a provider's own tool has values.
  return tools.map((tool) => (tool.type === 'provider' ? { ...tool, args: withoutSecrets(tool.args) } : tool))
}

const secret = /^(headers|cookies?|authorization|password|.*(api[-_]?key|token|secret|credentials?))$/i

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, secret.test(key) ? '(left out)' : withoutSecrets(part)]),
  )
}

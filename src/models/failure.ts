import { AppError, messageOf } from '../core/error.ts'
import type { ModelSetting } from '../core/model.ts'
import { providerPackages } from './packages.ts'

/** An error may be its own cause. */
const maxLevels = 10

interface ProviderFailure {
  message?: unknown
  statusCode?: unknown
  lastError?: unknown
  cause?: unknown
}

/** A readable `run_failed`: the model and the provider's message, never a key. */
export function modelFailure(error: unknown, label: string, setting?: ModelSetting): AppError {
  const failure = innermost(error)
  const { statusCode } = failure
  const status = typeof statusCode === 'number' && statusCode >= 400 ? ` (status ${statusCode})` : ''
  const said = hideKeys(textOf(failure, error), setting).slice(0, 1_000)
  return new AppError('run_failed', `The model '${label}' failed${status}: ${said}`, { cause: error })
}

/** A request that took too long: the model may have been at work. */
const timeouts: readonly unknown[] = [408, 499, 504, 524]

/** Whether the provider answered with an HTTP error, so that it generated nothing. */
export function isRefusal(error: unknown): boolean {
  const { statusCode } = innermost(error)
  return typeof statusCode === 'number' && statusCode >= 400 && !timeouts.includes(statusCode)
}

/** After retries the AI SDK throws a wrapper; the real error is its `lastError`. */
function innermost(error: unknown): ProviderFailure {
  let failure = error
  for (let level = 0; level < maxLevels; level++) {
    const inner = typeof failure === 'object' && failure !== null ? (failure as ProviderFailure).lastError : undefined
    if (inner === undefined) break
    failure = inner
  }
  return (typeof failure === 'object' && failure !== null ? failure : {}) as ProviderFailure
}

/** The message, and its cause's when that says more (`Failed to process…: terminated`). */
function textOf({ message, cause }: ProviderFailure, error: unknown): string {
  const text = typeof message === 'string' && message !== '' ? message : messageOf(error)
  const why = cause instanceof Error ? cause.message : ''
  return text.includes(why) ? text : `${text}: ${why}`
}

function hideKeys(text: string, setting: ModelSetting | undefined): string {
  const own = typeof setting === 'object' && 'apiKey' in setting ? setting.apiKey : undefined
  const provided = Object.values(providerPackages).map(({ keyVariable }) => process.env[keyVariable])
  let shown = text
  for (const key of [own, ...provided]) if (key !== undefined && key !== '') shown = shown.replaceAll(key, '***')
  return shown
    .replace(/\b(?:sk|pk|key|AIza)[-_]?[\w-]{16,}/g, '***')
    .replace(/(Bearer\s+)\S+/gi, '$1***')
    .replace(/\/\/[^/\s@]+@/g, '//***@')
}

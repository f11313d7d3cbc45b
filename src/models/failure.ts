import { AppError, messageOf } from '../core/error.ts'
import { type ModelChoice, modelsOf } from '../core/model.ts'
import { codesOf, NotReached } from './error-codes.ts'
import { providerPackages } from './packages.ts'

/** An error may be its own cause. */
const maxLevels = 10

interface ProviderFailure {
  message?: unknown
  statusCode?: unknown
  isRetryable?: unknown
  lastError?: unknown
  cause?: unknown
}

/** A readable `run_failed`: the model and the provider's message, never a key. */
export function modelFailure(error: unknown, label: string, setting?: ModelChoice): AppError {
  const { status, said } = failureOf(error, setting)
  const why = status === undefined ? said : `(status ${status}): ${said}`
  return new AppError('run_failed', `The model '${label}' failed${status === undefined ? ':' : ''} ${why}`, {
    cause: error,
  })
}

/** `status 429: Too many requests`, never a key. */
export function failureWords(error: unknown, setting?: ModelChoice): string {
  const { status, said } = failureOf(error, setting)
  return status === undefined ? said : `status ${status}: ${said}`
}

function failureOf(error: unknown, setting: ModelChoice | undefined): { status: number | undefined; said: string } {
  const failure = innermost(error)
  const { statusCode } = failure
  const status = typeof statusCode === 'number' && statusCode >= 400 ? statusCode : undefined
  return { status, said: hideKeys(textOf(failure, error), setting).slice(0, 1_000) }
}

/** A request that took too long: the model may have been at work. */
const timeouts: readonly unknown[] = [408, 499, 504, 524]

/** Whether the provider answered with an HTTP error, so that it generated nothing. */
export function isRefusal(error: unknown): boolean {
  const { statusCode } = innermost(error)
  return typeof statusCode === 'number' && statusCode >= 400 && !timeouts.includes(statusCode)
}

/** A model failed before it said anything. `lastError`: what it told in its stream. */
export class NoFragment extends Error {
  readonly lastError: unknown

  constructor(message: string, lastError?: unknown) {
    super(message)
    this.lastError = lastError
  }
}

/** The ways in which a connection ends before an answer. */
const networkCode = /^(?:E(?:CONN\w+|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)|UND_ERR_\w+)$/

/** Whether another model may be asked: this one is overloaded, broken, or was not reached. A wrong request or key is not that. */
export function mayFallBack(error: unknown): boolean {
  const { statusCode, isRetryable } = innermost(error)
  // Below 400 the answer itself was cut or wrong.
  if (typeof statusCode === 'number') return statusCode < 400 || [408, 429].includes(statusCode) || statusCode >= 500
  if (error instanceof NoFragment || error instanceof NotReached) return true
  return isRetryable === true || codesOf(error).some((code) => networkCode.test(code))
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

function hideKeys(text: string, setting: ModelChoice | undefined): string {
  const settings = setting === undefined ? [] : modelsOf(setting)
  const own = settings.map((one) => (typeof one === 'object' && 'apiKey' in one ? one.apiKey : undefined))
  const provided = Object.values(providerPackages).map(({ keyVariable }) => process.env[keyVariable])
  let shown = text
  for (const key of [...own, ...provided]) if (key !== undefined && key !== '') shown = shown.replaceAll(key, '***')
  return shown
    .replace(/\b(?:sk|pk|key|AIza)[-_]?[\w-]{16,}/g, '***')
    .replace(/(Bearer\s+)\S+/gi, '$1***')
    .replace(/\/\/[^/\s@]+@/g, '//***@')
}

import { Agent, fetch } from 'undici'
import { codesOf, NotReached } from './error-codes.ts'

export interface OutgoingLimits {
  connectTimeoutMs: number
  /** Until the head of the answer, which may include loading a local model from disk. */
  headersTimeoutMs: number
  /** Between two pieces of the answer. */
  bodyTimeoutMs: number
}

export const outgoingLimits: OutgoingLimits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 600_000,
  bodyTimeoutMs: 300_000,
}

let shared: typeof globalThis.fetch | undefined

/** Shared by all models, so that connections are reused. */
export function outgoingFetch(): typeof globalThis.fetch {
  shared ??= createOutgoingFetch(outgoingLimits)
  return shared
}

/**
 * undici's fetch with time limits. Failures that a retry would not fix (no server on this machine, a timeout) become
 * errors that the AI SDK does not retry.
 */
export function createOutgoingFetch(limits: OutgoingLimits): typeof globalThis.fetch {
  const dispatcher = new Agent({
    connect: { timeout: limits.connectTimeoutMs },
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
  })
  const send = async (input: string | URL, init?: Parameters<typeof fetch>[1]) => {
    try {
      return await fetch(input, { ...init, dispatcher })
    } catch (error) {
      throw inWords(error, new URL(input), limits)
    }
  }
  return send as unknown as typeof globalThis.fetch
}

function inWords(error: unknown, { origin, hostname }: URL, { headersTimeoutMs }: OutgoingLimits): unknown {
  const codes = codesOf(error)
  if (codes.includes('ECONNREFUSED') && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) {
    return new NotReached(`nothing answers at ${origin} (ECONNREFUSED); is it running?`)
  }
  if (codes.includes('UND_ERR_HEADERS_TIMEOUT')) {
    return new NotReached(`${origin} did not answer within ${headersTimeoutMs / 1_000} s`)
  }
  return error
}

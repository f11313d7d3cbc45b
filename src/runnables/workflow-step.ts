import { setTimeout as wait } from 'node:timers/promises'
import { type Duration, parseDuration } from '../core/duration.ts'
import { AppError } from '../core/error.ts'
import type { EmittedEvent, StepEnd } from '../core/event.ts'
import { createId } from '../core/id.ts'
import { messageOf, toJson } from './json-value.ts'
import { checkSettings, duration, wholeNumber, wrong } from './setting-check.ts'

export interface StepOptions {
  /** How often a failed attempt is made again, 0–100; default 0. The pause before it doubles from 200 ms to 10 s. */
  retries?: number
  /** Limit of one attempt; none by default. */
  timeout?: Duration
}

export interface StepContext {
  /** Ends with the run and with the attempt's timeout. */
  readonly signal: AbortSignal
  /** From 1. */
  readonly attempt: number
}

/** Runs a piece of work as a step of the run and gives its result. Steps may run at the same time. */
export interface Step {
  <T>(name: string, work: (context: StepContext) => T | Promise<T>): Promise<T>
  <T>(name: string, options: StepOptions, work: (context: StepContext) => T | Promise<T>): Promise<T>
}

const firstPauseMs = 200
const longestPauseMs = 10_000

/** The `step` of one run: its events go to `emit`. */
export function createStep(emit: (event: EmittedEvent) => Promise<void>, signal: AbortSignal): Step {
  const step = <T>(name: string, ...rest: unknown[]): Promise<T> => {
    const work = rest.pop() as (context: StepContext) => T | Promise<T>
    const done = run(name, (rest[0] ?? {}) as StepOptions, work)
    // A step that nobody waits for may fail after the run has ended; its failure is in its step_end.
    done.catch(() => {})
    return done
  }

  async function run<T>(
    name: string,
    options: StepOptions,
    work: (context: StepContext) => T | Promise<T>,
  ): Promise<T> {
    if (typeof name !== 'string' || name === '') throw wrong('name', 'step() needs a name')
    if (typeof work !== 'function') throw wrong(name, `step('${name}') needs a function as its last argument`)
    checkSettings(`step('${name}')`, options, { retries: wholeNumber(0, 100), timeout: duration })
    signal.throwIfAborted()
    const step_id = createId('step')
    const startedAt = Date.now()
    const end = (rest: Pick<StepEnd, 'status' | 'output' | 'error'>) =>
      emit({ type: 'step_end', step_id, ...rest, duration_ms: Date.now() - startedAt })
    await emit({ type: 'step_start', step_id, name })
    try {
      const output = await attempts(name, options, work, signal)
      await end({ status: 'completed', ...(output === undefined ? {} : { output: toJson(output) }) })
      return output
    } catch (error) {
      await end(signal.aborted ? { status: 'cancelled' } : { status: 'failed', error: { message: messageOf(error) } })
      throw error
    }
  }

  return step as Step
}

async function attempts<T>(
  name: string,
  { retries = 0, timeout }: StepOptions,
  work: (context: StepContext) => T | Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await limited(name, parseDuration(timeout), signal, (own) => work({ signal: own, attempt }))
    } catch (error) {
      if (signal.aborted || attempt > retries) throw error
      await wait(Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs), undefined, { signal })
    }
  }
}

/** Ends with the run's signal and the time limit even when the work heeds neither; its late outcome is dropped. */
async function limited<T>(
  name: string,
  timeoutMs: number | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const own = new AbortController()
  const stopped = Promise.withResolvers<never>()
  const stop = (reason: unknown) => {
    own.abort(reason)
    stopped.reject(reason)
  }
  const onAbort = () => stop(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const late = new AppError('run_failed', `The step '${name}' took longer than its limit of ${timeoutMs} ms.`)
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs, late)
  try {
    return await Promise.race([(async () => work(own.signal))(), stopped.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

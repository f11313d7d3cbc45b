import { AsyncLocalStorage } from 'node:async_hooks'
import type { z } from 'zod'
import { AppError, messageOf } from '../../core/error.ts'
import type { EmittedEvent, Stamp, StepEnd, StepStart } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { pause, within } from '../../runtime/abort.ts'
import { checkSettings, wrong } from '../../schema/check.ts'
import { duration, integer, settings } from '../../schema/field.ts'
import type { Journal } from '../base/journal.ts'
import { type Journaled, toJournal } from '../base/json-value.ts'

const stepSettings = settings({
  /** How often a failed attempt is retried, 0–100; default 0. */
  retries: integer(0, 100).default(0),
  /** The pause before the first retry; it doubles up to 10 s. Default 200 ms. */
  backoff: duration().prefault('200ms'),
  /** Timeout of one attempt; default none. */
  timeout: duration().optional(),
})
export interface StepOptions extends z.input<typeof stepSettings> {}
type CheckedOptions = z.output<typeof stepSettings>

export interface StepContext {
  /** Aborts with the run and at the attempt's timeout. */
  readonly signal: AbortSignal
  /** From 1. */
  readonly attempt: number
  /** The same for every attempt of this step, also after a crash: lets other services recognise a repeated call. */
  readonly idempotencyKey: string
}

type Work<T> = (context: StepContext) => T | Promise<T>

/**
 * Runs work as a step of the run and returns its result as JSON. The result is durable before the next step begins, and
 * a finished step never runs again. Steps may run concurrently and be nested.
 */
export interface Step {
  <T>(name: string, work: Work<T>): Promise<Journaled<T>>
  <T>(name: string, options: StepOptions, work: Work<T>): Promise<Journaled<T>>
}

export interface StepSurroundings {
  runId: string
  emit: (event: EmittedEvent) => Promise<void>
  /** Resolves when the emitted events are durable. */
  recorded: () => Promise<void>
  signal: AbortSignal
  journal: Journal
  /** The session's state if it has changed since the last call. */
  changedState: (step: string) => JsonObject | undefined
  /** Called when a step begins; the returned function, when it ends. */
  enter: () => () => void
  /** In a run that repeats another: the recorded end of a step, or once it may be made. Never, while that is asked. */
  gate?: ((name: string, occurrence: number, leave: () => void) => Promise<StepEnd | undefined>) | undefined
}

const longestPauseMs = 10_000

interface WorkflowPosition {
  outer?: { id: string; key: string } | undefined
  /** The step or approval that it reached before. */
  after?: string | undefined
}
const places = new AsyncLocalStorage<WorkflowPosition>()

export function beginAt<T>(work: () => T): T {
  return places.run({}, work)
}

/**
 * The position of the calling code, which then moves behind `id`. Call it before any `await`: the position belongs to
 * the caller.
 */
export function moveTo(id: string): WorkflowPosition {
  const place = places.getStore() ?? {}
  places.enterWith({ ...place, after: id })
  return place
}

export function isInsideStep(): boolean {
  return places.getStore()?.outer !== undefined
}

export function createStep(surroundings: StepSurroundings): Step {
  const { runId, emit, recorded, signal, journal, changedState, enter, gate } = surroundings

  const step = (name: string, ...rest: unknown[]): Promise<unknown> => {
    const work = rest.pop() as Work<unknown>
    if (typeof name !== 'string' || name === '') throw wrong('name', 'step() needs a name')
    if (typeof work !== 'function') throw wrong(name, `step('${name}') needs a function as its last argument`)
    const options = checkSettings(`step('${name}')`, stepSettings, rest[0] ?? {})
    const outer = places.getStore()?.outer
    const { key, number, id = createId('step') } = journal.next('step', name, outer?.id)
    const { after } = moveTo(id)
    const end = enter()
    let hasLeft = false
    const leave = () => {
      if (!hasLeft) end()
      hasLeft = true
    }
    const idempotencyKey = `${outer?.key ?? runId}/${encodeURIComponent(name)}#${number}`
    const start: StepStart = { type: 'step_start', step_id: id, name }
    if (outer !== undefined) start.parent_id = outer.id
    if (after !== undefined) start.after = after
    const allow = outer === undefined && gate !== undefined ? () => gate(name, number, leave) : undefined
    const done = run(start, key, idempotencyKey, options, work, allow).finally(leave)
    // A step that is not awaited may fail after the run has ended; the error is in its step_end.
    done.catch(() => {})
    return done
  }

  async function run(
    start: StepStart,
    key: string,
    idempotencyKey: string,
    options: CheckedOptions,
    work: Work<unknown>,
    allow: (() => Promise<StepEnd | undefined>) | undefined,
  ): Promise<unknown> {
    signal.throwIfAborted()
    const { step_id: id, name, after, parent_id } = start
    const known = await journal.enter(key, name, after, parent_id)
    if (known !== undefined) return resultOf(known as StepEnd)
    const answered = await allow?.()
    signal.throwIfAborted()
    if (answered !== undefined) {
      const { step_id: _id, run_id: _run, seq: _seq, at: _at, ...end } = answered as StepEnd & Stamp
      await emit(start)
      await emit({ ...end, step_id: id })
      await recorded()
      return resultOf(answered)
    }
    const startedAt = Date.now()
    const end = async (rest: Pick<StepEnd, 'status' | 'output' | 'error'>) => {
      const state = changedState(name)
      const duration_ms = Date.now() - startedAt
      await emit({ type: 'step_end', step_id: id, ...rest, duration_ms, ...(state === undefined ? {} : { state }) })
      await recorded()
    }
    await emit(start)
    let output: Json | undefined
    try {
      const inside = { outer: { id, key: idempotencyKey } }
      const attempt = (context: StepContext) => places.run(inside, () => work(context))
      output = toJournal(`step('${name}')`, await attempts(name, options, attempt, signal, idempotencyKey))
    } catch (error) {
      await end(signal.aborted ? { status: 'cancelled' } : { status: 'failed', error: { message: messageOf(error) } })
      throw error
    }
    await end({ status: 'completed', ...(output === undefined ? {} : { output }) })
    signal.throwIfAborted()
    return output
  }

  return step as Step
}

function resultOf(end: StepEnd): Json | undefined {
  if (end.status === 'failed') throw new AppError('run_failed', end.error?.message ?? 'The step failed.')
  return end.output
}

async function attempts<T>(
  name: string,
  { retries, backoff, timeout }: CheckedOptions,
  work: Work<T>,
  signal: AbortSignal,
  idempotencyKey: string,
): Promise<T> {
  const late = () => new AppError('run_failed', `The step '${name}' exceeded its limit of ${timeout} ms.`)
  for (let attempt = 1; ; attempt++) {
    try {
      return await within((own) => work({ signal: own, attempt, idempotencyKey }), { ms: timeout, late, signal })
    } catch (error) {
      if (signal.aborted || attempt > retries) throw error
      await pause(Math.min(backoff * 2 ** (attempt - 1), Math.max(backoff, longestPauseMs)), signal)
    }
  }
}

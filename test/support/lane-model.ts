import { expect } from 'vitest'
import { usualLimits } from '../../src/config/settings/limits.ts'
import { isAppError } from '../../src/core/error.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { SessionStore } from '../../src/core/store.ts'
import { systemTimers } from '../../src/runtime/timers.ts'
import { createRegistry } from '../../src/service/registry.ts'
import { queueLimit } from '../../src/service/runs/queue.ts'
import { createRuns, type RunService } from '../../src/service/runs/runs.ts'
import type { MultitaskStrategy, RunHandle, StartRun } from '../../src/service/services.ts'
import { collect, request, runnable } from './services.ts'

const sessionId = 'shared'

interface Caller {
  index: number
  turns: number
  /** What must come of it; null: what it says to its end. */
  cancelled: string | null
  /** Its runnable has said all that it had to say. */
  finished: boolean
  begun: boolean
  handle: RunHandle | undefined
  answered: Promise<void>
}

export type LaneStep =
  | {
      kind: 'start'
      after: number
      strategy: MultitaskStrategy
      /** How many turns of the event loop the run takes. */
      turns: number
      /** Without effects: it may begin before its start is durable. */
      pure: boolean
      mode: StartRun['mode']
    }
  | { kind: 'cancel'; after: number; which: number; reason: string | undefined }

/**
 * What one session's runs must do, written down in the simplest way, beside the run service that does it. What callers do
 * is decided at once, between two turns of the event loop, so the model knows at every step what the answer must be.
 */
export class LaneModel {
  longest = 0
  readonly #runs: RunService
  readonly #store: SessionStore
  readonly #errors: unknown[]
  readonly #callers: Caller[] = []
  /** The current run first; a run leaves when its end is recorded. */
  #lane: Caller[] = []
  readonly #begun: number[] = []
  #inside: Caller | undefined
  readonly #recorded: string[] = []

  private constructor(store: SessionStore, runs: RunService, errors: unknown[], recorded: string[]) {
    this.#store = store
    this.#runs = runs
    this.#errors = errors
    this.#recorded = recorded
  }

  static async open(inner: SessionStore): Promise<LaneModel> {
    const recorded: string[] = []
    const store = traced(inner, recorded)
    await store.open()
    const registry = createRegistry()
    const errors: unknown[] = []
    const runs = createRuns({
      store,
      registry,
      logger: { ...silentLogger, error: (...args: unknown[]) => void errors.push(args) },
      clock: Date.now,
      timers: systemTimers,
      requestTimeoutMs: 600_000,
      bounds: usualLimits(),
      owner: 'own_model',
    })
    const model = new LaneModel(store, runs, errors, recorded)
    const run = (text: string) => model.#run(Number(text))
    for (const effects of ['none', 'any'] as const) {
      registry.register(
        effects,
        runnable(({ text }) => run(text), { sideEffects: effects === 'any' }),
      )
    }
    return model
  }

  async *#run(index: number): AsyncGenerator<string> {
    const caller = this.#callers[index] as Caller
    expect(this.#lane[0], 'only the first of the lane begins').toBe(caller)
    expect(caller.cancelled, 'what was cancelled does not begin').toBeNull()
    if (this.#inside !== undefined) {
      expect(this.#inside.finished || this.#inside.cancelled !== null, 'two at once').toBe(true)
    }
    this.#inside = caller
    caller.begun = true
    this.#begun.push(index)
    yield `${index}:`
    for (let turn = 0; turn < caller.turns; turn++) {
      await yieldToLoop()
      yield '.'
    }
    if (caller.cancelled === null) caller.finished = true
  }

  async play(steps: readonly LaneStep[]): Promise<void> {
    for (const step of steps) {
      for (let turn = 0; turn < step.after; turn++) await yieldToLoop()
      if (step.kind === 'start') this.#start(step)
      else await this.#cancel(step.which, step.reason)
      this.longest = Math.max(this.longest, this.#lane.length)
    }
  }

  #start(step: Extract<LaneStep, { kind: 'start' }>): void {
    const index = this.#callers.length
    const refusal = this.#refusal(step.strategy)
    const { turns, strategy, mode } = step
    const caller: Caller = {
      index,
      turns,
      cancelled: null,
      finished: false,
      begun: false,
      handle: undefined,
      answered: Promise.resolve(),
    }
    this.#callers.push(caller)
    if (refusal === undefined) {
      if (strategy === 'interrupt') for (const other of this.#lane) cancelModel(other, 'superseded')
      this.#lane.push(caller)
    }
    const started = this.#runs.start(request(step.pure ? 'none' : 'any', `${index}`, { sessionId, strategy, mode }))
    caller.answered = this.#follow(caller, started, refusal)
    caller.answered.catch(() => {})
  }

  #refusal(strategy: MultitaskStrategy): string | undefined {
    if (this.#lane.length === 0) return undefined
    if (strategy === 'reject') return 'conflict'
    const waiting = this.#lane.slice(1)
    const counted = strategy === 'enqueue' ? waiting : waiting.filter((caller) => caller.cancelled !== null)
    return counted.length >= queueLimit ? 'rate_limited' : undefined
  }

  async #follow(caller: Caller, started: Promise<RunHandle>, refusal: string | undefined): Promise<void> {
    if (refusal !== undefined) {
      expect(await codeOf(started)).toBe(refusal)
      return
    }
    caller.handle = await started
    const reading = collect(caller.handle.events())
    const run = await caller.handle.result()
    expect(this.#lane[0] === caller || caller.cancelled !== null, 'only the first of the lane ends by itself').toBe(
      true,
    )
    this.#lane = this.#lane.filter((other) => other !== caller)
    expect([run.status, run.cancellation_reason]).toEqual(
      caller.cancelled === null ? ['completed', null] : ['cancelled', caller.cancelled],
    )
    const events = await reading
    expect(events.map((event) => event.seq)).toEqual(events.map((_, place) => place + 1))
    const text = events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('')
    const whole = `${caller.index}:${'.'.repeat(caller.turns)}`
    expect(caller.cancelled === null ? text : whole.slice(0, text.length)).toBe(
      caller.cancelled === null ? whole : text,
    )
    expect(run.messages.map((message) => message.content)).toEqual(
      text === '' ? [`${caller.index}`] : [`${caller.index}`, text],
    )
  }

  async #cancel(which: number, reason: string | undefined): Promise<void> {
    const caller = this.#callers[which]
    if (caller?.handle === undefined) return
    const going = this.#lane.includes(caller) && !caller.finished && caller.cancelled === null
    if (going) cancelModel(caller, reason ?? 'requested')
    const cancelling = this.#runs.cancel(caller.handle.runId, reason)
    if (going) void cancelling.catch((error: unknown) => this.#errors.push(error))
    else expect(await codeOf(cancelling)).toBe('conflict')
  }

  /** Waits for everything and compares what is recorded with what should be. */
  async settle(): Promise<void> {
    for (const caller of this.#callers) await caller.answered
    expect(this.#errors).toEqual([])
    expect(this.#runs.active).toBe(0)
    expect(this.#lane).toEqual([])
    expect(this.#begun).toEqual(this.#begun.toSorted((a, b) => a - b))
    expect(this.#recorded.filter((line, place) => line === this.#recorded[place - 1])).toEqual([])
    const accepted = this.#callers.filter((caller) => caller.handle !== undefined)
    const { items } = await this.#store.listRuns({ session_id: sessionId }, { limit: 1000, cursor: undefined })
    const expected = accepted.map(({ handle, cancelled }) => [
      handle?.runId,
      cancelled === null ? 'completed' : 'cancelled',
      cancelled,
    ])
    const found = items.map((run) => [run.run_id, run.status, run.cancellation_reason])
    expect(found.toSorted()).toEqual(expected.toSorted())
    const { runs } = await this.#store.readHistory(sessionId, 1000)
    expect(runs.map((run) => run.run_id)).toEqual(accepted.map(({ handle }) => handle?.runId))
    const free = await this.#runs.start(request('none', await this.#last(), { sessionId, strategy: 'reject' }))
    expect((await free.result()).status).toBe('completed')
  }

  async #last(): Promise<string> {
    const index = this.#callers.length
    const caller: Caller = {
      index,
      turns: 0,
      cancelled: null,
      finished: false,
      begun: false,
      handle: undefined,
      answered: Promise.resolve(),
    }
    this.#callers.push(caller)
    this.#lane = [caller]
    return `${index}`
  }
}

/** Writes down `in` and `out` as the store lets runs begin and end; two equal neighbours are two runs at once. */
function traced(inner: SessionStore, recorded: string[]): SessionStore {
  const running = new Set<string>()
  const enter = (runId: string) => {
    running.add(runId)
    recorded.push('in')
  }
  return new Proxy(inner, {
    get(target, key, receiver) {
      if (key === 'startRun') {
        return async (start: Parameters<SessionStore['startRun']>[0]) => {
          const started = await target.startRun(start)
          if (started.outcome === 'started') enter(start.run.run_id)
          return started
        }
      }
      if (key === 'beginRun') {
        return async (...args: Parameters<SessionStore['beginRun']>) => {
          const begun = await target.beginRun(...args)
          if (begun === 'begun') enter(args[0])
          return begun
        }
      }
      if (key === 'finishRun') {
        return async (end: Parameters<SessionStore['finishRun']>[0]) => {
          const finished = await target.finishRun(end)
          if (running.delete(end.run_id)) recorded.push('out')
          return finished
        }
      }
      return Reflect.get(target, key, receiver)
    },
  })
}

function cancelModel(caller: Caller, reason: string): void {
  if (!caller.finished) caller.cancelled ??= reason
}

async function codeOf(refused: Promise<unknown>): Promise<string | undefined> {
  try {
    await refused
    return undefined
  } catch (error) {
    return isAppError(error) ? error.code : String(error)
  }
}

function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

import { usualLimits } from '../../src/config/settings/limits.ts'
import type { RunEvent } from '../../src/core/event.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { markRunnable, type RunContext, type RunInput, type Runnable } from '../../src/core/runnable.ts'
import type { SessionStore } from '../../src/core/store.ts'
import type { Clock, Timers } from '../../src/core/time.ts'
import { createCosts } from '../../src/models/prices/costs.ts'
import { systemTimers } from '../../src/runtime/timers.ts'
import { createAgain } from '../../src/service/again/again.ts'
import { createKeep } from '../../src/service/again/keep.ts'
import { createBookmarks } from '../../src/service/bookmarks.ts'
import type { RunBounds } from '../../src/service/limits/run-budget.ts'
import { createRegistry } from '../../src/service/registry.ts'
import { createRuns } from '../../src/service/runs/runs.ts'
import type { StartRun } from '../../src/service/services.ts'
import { createSessions } from '../../src/service/sessions/sessions.ts'
import { memoryStore } from '../../src/store/sessions/memory/store.ts'

/** A runnable of kind agent from a generator. */
export function runnable(run: Runnable['run'], more: Partial<Runnable> = {}): Runnable {
  return markRunnable({ kind: 'agent', tools: [], knowledge: false, sideEffects: true, ...more, run })
}

export const echo = runnable(
  async function* ({ text }: RunInput) {
    for (const word of text.split(/(?<=\s)/)) yield word
  },
  { sideEffects: false },
)

/** Says `so far ` and fails. */
export const failing = runnable(async function* () {
  yield 'so far '
  throw new Error('no luck')
})

export interface Gate {
  runnable: Runnable
  /** Resolves when the n-th run has begun, with its context. */
  begun(index: number): Promise<RunContext>
  /** Lets the n-th run go on to its end. */
  open(index: number): void
}

/** Runs that say `a`, wait for the gate (not for their signal) and say `b`. */
export function gate(): Gate {
  const begun: PromiseWithResolvers<RunContext>[] = []
  const opened: PromiseWithResolvers<void>[] = []
  const at = <T>(list: PromiseWithResolvers<T>[], index: number): PromiseWithResolvers<T> => {
    while (list.length <= index) list.push(Promise.withResolvers<T>())
    return list[index] as PromiseWithResolvers<T>
  }
  let count = 0
  return {
    runnable: runnable(async function* (_input, context) {
      const index = count++
      yield 'a'
      at(begun, index).resolve(context)
      await at(opened, index).promise
      yield 'b'
    }),
    begun: (index) => at(begun, index).promise,
    open: (index) => at(opened, index).resolve(),
  }
}

export async function openServices(
  entities: Record<string, Runnable>,
  store: SessionStore = memoryStore(),
  requestTimeoutMs = 30_000,
  bounds: RunBounds = usualLimits(),
  timers: Timers = systemTimers,
  clock: Clock = Date.now,
) {
  await store.open()
  const registry = createRegistry()
  for (const [id, entity] of Object.entries(entities)) registry.register(id, entity)
  const runs = createRuns({
    store,
    registry,
    logger: silentLogger,
    clock,
    timers,
    requestTimeoutMs,
    bounds,
    owner: 'own_test',
  })
  const sessions = createSessions(store, runs, Date.now, bounds)
  const again = createAgain({ store, registry, runs, sessions, bounds })
  const keep = createKeep({ runs, sessions })
  const bookmarks = createBookmarks(store, Date.now)
  return { store, registry, bookmarks, costs: createCosts({}), runs, again, keep, sessions }
}

export function request(entityId: string, text: string, more: Partial<StartRun> = {}): StartRun {
  return { entityId, parts: [{ type: 'text', text }], unknownSession: 'create', mode: 'plain', ...more }
}

export async function collect(events: AsyncIterable<readonly RunEvent[]>): Promise<RunEvent[]> {
  const all: RunEvent[] = []
  for await (const batch of events) all.push(...batch)
  return all
}

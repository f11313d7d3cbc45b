import { usualLimits } from '../../src/config/settings/limits.ts'
import type { RunEvent } from '../../src/core/event.ts'
import type { Runnable } from '../../src/core/runnable.ts'
import type { SessionStore } from '../../src/core/store.ts'
import type { RunBounds } from '../../src/service/limits/run-budget.ts'
import type { ResumeAnswer } from '../../src/service/services.ts'
import { memoryStore } from '../../src/store/sessions/memory/store.ts'
import { collect, openServices, request } from '../support/services.ts'

const open: (() => Promise<void>)[] = []

/** Ends the services that `serveAsking` has opened. */
export async function closeAsking(): Promise<void> {
  for (const close of open.splice(0)) await close()
}

interface Options {
  store?: SessionStore
  bounds?: RunBounds
  /** The process dies, so it does not end its runs. */
  dies?: boolean
}

/** Services of one process, and what a test of `ask` looks at. `main` is the entity that asks. */
export async function serveAsking(
  entities: Record<string, Runnable>,
  { store = memoryStore(), bounds, dies = false }: Options = {},
) {
  const services = await openServices(entities, store, 30_000, bounds ?? usualLimits())
  const { runs } = services
  if (!dies) open.push(() => runs.shutdown(0))
  const eventsOf = async (runId: string): Promise<RunEvent[]> => collect(await runs.events(runId, 0))
  const start = async (text = 'x') => runs.start(request('main', text, { mode: 'background' }))
  return {
    ...services,
    store,
    start,
    eventsOf,
    run: async (text?: string) => (await start(text)).result(),
    resume: async (runId: string, answer: Omit<ResumeAnswer, 'mode'> = {}) =>
      (await runs.resume(runId, { ...answer, mode: 'background' })).result(),
    /** Oldest first. */
    children: async (runId: string) => (await runs.list({ parent_run_id: runId }, { limit: 100 })).items.toReversed(),
    /** The open requests of a paused run. */
    async requests(runId: string) {
      const events = await eventsOf(runId)
      const from = events.findLastIndex(({ type }) => type === 'run_resumed')
      return events.slice(from + 1).filter((event) => event.type === 'input_required')
    },
  }
}

let crashes = 0

/** What a process that dies leaves, as the next one finds it. */
export async function afterCrash(store: SessionStore, entities: Record<string, Runnable>) {
  await store.recover(`own_${++crashes}`, new Date().toISOString())
  return serveAsking(entities, { store })
}

/** The answer of a run. */
export function saidBy({ messages }: { messages: readonly { role: string; content: string }[] }): string | undefined {
  return messages.find(({ role }) => role === 'assistant')?.content
}

export function ofType<T extends RunEvent['type']>(events: readonly RunEvent[], type: T) {
  return events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)
}

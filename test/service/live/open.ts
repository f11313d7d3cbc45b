import type { SessionStore } from '../../../src/core/store.ts'
import { watchStore } from '../../../src/service/live/changes.ts'
import { headsOf } from '../../../src/service/live/heads.ts'
import type { LiveBatch, LiveItem } from '../../../src/service/live/items.ts'
import { createLive, type OpenLive } from '../../../src/service/live/live.ts'
import type { LiveReader } from '../../../src/service/live/reader.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { echo, gate, openServices } from '../../support/services.ts'

/** Of runs, each from after a number, and of sessions. */
export const follow = (runs: Iterable<[string, number]>, sessions: Iterable<string> = []): OpenLive['follow'] => ({
  runs: new Map(runs),
  sessions: new Set(sessions),
})

export const anyone: OpenLive = {
  caller: 'anonymous',
  user: undefined,
  operator: true,
  after: undefined,
  follow: { runs: new Map(), sessions: new Set() },
  children: false,
  prompts: false,
}

/** The hub over real services and a memory store; its time passes by hand. */
export async function openLive(inner: SessionStore = memoryStore()) {
  const { store, changes } = watchStore(inner)
  const waiting = gate()
  const services = await openServices({ echo, waiting: waiting.runnable }, store)
  const timers = manualTimers()
  let nowMs = 0
  const read: string[] = []
  const hooks: { onRead?: (() => void) | undefined } = {}
  const live = createLive({
    serverId: 'srv_one',
    changes,
    heads: {
      async session(sessionId) {
        read.push(sessionId)
        hooks.onRead?.()
        return store.findOverview(sessionId)
      },
      async run(runId) {
        read.push(runId)
        return store.findRun(runId)
      },
      runs: (sessionId) => store.listRuns({ session_id: sessionId }, { limit: 100 }),
      children: (runId) => store.listRuns({ parent_run_id: runId }, { limit: 100 }),
      underWay: headsOf(store).underWay,
      userOf: async (sessionId) => (await store.findSession(sessionId))?.session.user_id,
    },
    runs: services.runs,
    timers,
    clock: () => nowMs,
  })
  return Object.assign(hooks, {
    ...services,
    waiting,
    live,
    timers,
    /** The ids whose heads were read. */
    read,
    pass(ms: number) {
      nowMs += ms
      timers.advance(ms)
    },
  })
}

/** What has come, one after the other. */
export function reading(reader: LiveReader) {
  const items: LiveItem[] = []
  const batches: LiveBatch[] = []
  const waiting = new Set<() => void>()
  let ended = false
  const done = (async () => {
    for await (const batch of reader) {
      batches.push(batch)
      items.push(...batch.items)
      for (const wake of waiting) wake()
    }
    ended = true
    for (const wake of waiting) wake()
  })()
  return {
    items,
    batches,
    done,
    get last() {
      return `srv_one.${batches.findLast(({ id }) => id !== undefined)?.id}`
    },
    /** Resolves once it is true of what has come. */
    async until(isEnough: (items: readonly LiveItem[]) => boolean): Promise<void> {
      while (!isEnough(items)) {
        if (ended) throw new Error(`ended after ${JSON.stringify(items)}`)
        await new Promise<void>((wake) => waiting.add(wake))
      }
    },
  }
}

export const types = (items: readonly LiveItem[]) => items.map(({ type }) => type)

import { notFound } from '../../core/error.ts'
import type { InputRequired, RunEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import { isWithheld } from '../../core/refusal.ts'
import { isTry, type RunHead, type RunRecord } from '../../core/run.ts'
import type { History, SessionStore } from '../../core/store.ts'
import { openRequests } from '../../core/waiting.ts'
import { nextLimit } from './pages.ts'
import { sharePages } from './shared-pages.ts'

const historyLimit = 2000
const eventPage = 500

export type PartOfTurn = Pick<RunHead, 'run_id' | 'parent_run_id' | 'again_of'>

export interface RecordedRuns {
  /** Throws `run_not_found`. */
  get(runId: string): Promise<RunRecord>
  /** Throws `run_not_found`. */
  head(runId: string): Promise<RunHead>
  /** The events of a run that is not live. (An async generator would keep the page that its reader has taken in memory.) */
  events(run: RunHead, after: number, signal?: AbortSignal): AsyncIterable<readonly RunEvent[]>
  /** Each time that the run was resumed. */
  resumptions(runId: string): Promise<RunEvent[]>
  /** What a paused run asked for since it started or was last resumed. */
  requests(runId: string): Promise<InputRequired[]>
  /**
   * At most `count` runs before a live one, the latest last. `queued`: how many runs its session's queue holds. `isStored`: the
   * run is in the store by now.
   */
  runsBefore(run: RunRecord, count: number, queued: number, isStored: boolean): Promise<RunRecord[]>
  /** The same for any run, live or recorded. */
  recordedBefore(runId: string, sessionId: string, count: number): Promise<RunRecord[]>
  /** The turn of which the run is a part; of a try, the turn that it tries again. */
  turnOf(run: PartOfTurn): Promise<string>
  /** The session's state, which the caller may change, and its user. `reader`: the run that reads (core/store.ts). */
  basis(sessionId: string, reader?: string): Promise<{ state: JsonObject; userId: string | null }>
}

export function createRecordedRuns(store: SessionStore): RecordedRuns {
  const readPage = sharePages((runId, after, limit) => store.readEvents(runId, after, limit))

  async function eventsOf(runId: string, types: readonly RunEvent['type'][]): Promise<RunEvent[]> {
    const events: RunEvent[] = []
    for (let after = 0; ; ) {
      const page = await store.readEvents(runId, after, eventPage, types)
      events.push(...page.filter(({ type }) => types.includes(type)))
      const last = page.at(-1)
      if (last === undefined) return events
      after = last.seq
    }
  }

  return {
    async get(runId) {
      const run = await store.findRun(runId)
      if (run === undefined) throw notFound('run', runId)
      return run
    },
    async head(runId) {
      const run = await (store.findRunHead?.(runId) ?? store.findRun(runId))
      if (run === undefined) throw notFound('run', runId)
      return run
    },
    events: (run, after, signal) => ({
      [Symbol.asyncIterator]() {
        let next = after
        let limit = nextLimit()
        return {
          async next() {
            const events = signal?.aborted ? [] : await readPage(run, next, limit)
            const last = events.at(-1)
            if (last === undefined) return { done: true, value: undefined }
            next = last.seq
            limit = nextLimit(events)
            return { done: false, value: events }
          },
        }
      },
    }),
    resumptions: (runId) => eventsOf(runId, ['run_resumed']),
    requests: async (runId) => openRequests(await eventsOf(runId, ['run_resumed', 'input_required'])),
    // Later runs that wait or were given up stand between this run and the earlier ones.
    async runsBefore(run, count, queued, isStored) {
      if (count <= 0) return []
      for (let limit = count + Math.max(1, queued); ; limit *= 2) {
        const history = await store.readHistory(run.session_id, limit, undefined, run.run_id)
        const index = history.runs.findIndex((other) => other.run_id === run.run_id)
        if (index === -1 && isStored && !isAll(history, limit)) continue
        const earlier = index === -1 ? history.runs : history.runs.slice(0, index)
        const begun = earlier.filter((other) => other.status !== 'queued' && !isWithheld(other))
        if (begun.length >= count || isAll(history, limit)) return begun.slice(-count)
      }
    },
    async recordedBefore(runId, sessionId, count) {
      for (let limit = count; ; limit *= 2) {
        const history = await store.readHistory(sessionId, limit, { before: runId })
        const begun = history.runs.filter((other) => other.status !== 'queued' && !isWithheld(other))
        if (begun.length >= count || isAll(history, limit)) return begun.slice(-count)
      }
    },
    async turnOf(run) {
      let part = run
      while (true) {
        const outer = part.parent_run_id ?? (isTry(part) ? part.again_of?.run_id : undefined)
        if (outer === undefined) return part.run_id
        part = await this.head(outer)
      }
    },
    async basis(sessionId, reader) {
      const found = await (store.readBasis?.(sessionId, reader) ??
        store.findSession(sessionId).then((one) => one?.session))
      return { state: { ...found?.state }, userId: found?.user_id ?? null }
    },
  }
}

/** Whether a larger limit would give no more runs: there are none, or these are too large for one answer. */
function isAll({ runs, has_more }: History, limit: number): boolean {
  return !has_more || runs.length < limit || limit > historyLimit
}

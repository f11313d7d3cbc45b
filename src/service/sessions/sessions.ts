import { AppError, invalid, notFound } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { Limits } from '../../core/limits.ts'
import type { SessionRecord } from '../../core/session.ts'
import type { SessionBasis, SessionStore } from '../../core/store.ts'
import { marksIn, searchWordsOf } from '../../core/text/message-search.ts'
import type { Clock } from '../../core/time.ts'
import { timestamp } from '../../core/time.ts'
import { pause } from '../../runtime/abort.ts'
import { wholeContent } from '../files/content.ts'
import { earlierAnswer, toClaim } from '../idempotency.ts'
import { checkGiven, type GivenBounds } from '../limits/given.ts'
import type { RunService } from '../runs/runs.ts'
import type { Sessions } from '../services.ts'
import { assertTurn } from './copied-turns.ts'
import { createSessionCopies } from './copies.ts'

const eventPage = 1000
const prunedAtOnce = 50
const prunedForMs = 3_000

type FileLimit = Pick<Limits, 'fileBytes'>

export function createSessions(
  store: SessionStore,
  runs: RunService,
  clock: Clock,
  bounds: GivenBounds & FileLimit,
): Sessions {
  async function get(sessionId: string): Promise<SessionRecord> {
    const record = await store.findSession(sessionId)
    if (record === undefined) throw notFound('session', sessionId)
    return record
  }

  /** `get` reads much more. */
  async function readBasis(sessionId: string): Promise<SessionBasis> {
    const found = await (store.readBasis?.(sessionId) ?? store.findSession(sessionId).then((record) => record?.session))
    if (found === undefined) throw notFound('session', sessionId)
    return found
  }

  async function* readEvents(runId: string, types?: readonly RunEvent['type'][]): AsyncGenerator<RunEvent[]> {
    for (let after = 0; ; ) {
      const page = await store.readEvents(runId, after, eventPage, types)
      const last = page.at(-1)
      if (last === undefined) return
      yield page
      after = last.seq
    }
  }

  const copies = createSessionCopies(store, clock, bounds)

  return {
    get,
    async create(seed, idempotency) {
      checkGiven(seed, bounds)
      const now = clock()
      const session = {
        session_id: seed.session_id ?? createId('ses', now),
        agent_id: seed.agent_id ?? null,
        team_id: seed.team_id ?? null,
        workflow_id: seed.workflow_id ?? null,
        user_id: seed.user_id ?? null,
        name: seed.name ?? null,
        metadata: seed.metadata ?? null,
        state: seed.state ?? null,
        created_at: timestamp(now),
      }
      if (idempotency === undefined) return (await store.createSession(session)) as SessionRecord
      const made = await store.createSession(session, toClaim(idempotency, now))
      return 'claimed' in made ? (earlierAnswer(made.claimed, idempotency) as unknown as SessionRecord) : made
    },
    async update(sessionId, change, revision) {
      checkGiven(change, bounds)
      return store.updateSession(sessionId, change, timestamp(clock()), revision)
    },
    async delete(sessionId) {
      await runs.cancelSession(sessionId, 'session_deleted')
      if (!(await store.deleteSession(sessionId))) throw notFound('session', sessionId)
      // Runs that started in between have lost their session.
      await runs.cancelSession(sessionId, 'session_deleted')
    },
    list: (filter, page) => store.listSessions(filter, page),
    heads: (filter, page) => store.listOverviews(filter, page),
    count: (filter) => store.countSessions(filter),
    fork: async (sessionId, fork) => copies.fork(await get(sessionId), fork),
    export: async (sessionId, withEvents, part) => copies.export(await get(sessionId), withEvents, part),
    async file(sessionId, fileId) {
      const file = await store.findFile(sessionId, fileId)
      if (file !== undefined && !file.unchecked) return { file, content: wholeContent(store, file) }
      await get(sessionId)
      throw notFound('file', fileId)
    },
    import: (copy, options) => copies.import(copy, options),
    async prune({ olderThan, filter, presentUser }) {
      const begunMs = performance.now()
      for (let deleted = 0; ; ) {
        const lastMs = performance.now()
        const count = await store.prune({ olderThan, filter, presentUser }, prunedAtOnce)
        deleted += count
        const nowMs = performance.now()
        if (count === 0 || nowMs - begunMs > prunedForMs) return { deleted, has_more: count > 0 }
        // Other writes wait for one batch at most, not for all of them.
        await pause(nowMs - lastMs)
      }
    },
    async state(sessionId, at = {}) {
      const { state } = await readBasis(sessionId)
      const { before, after } = at
      if (before !== undefined) return (await store.findStateBefore(before)) ?? null
      if (after === undefined || store.findStateAfter === undefined) return state
      return (await store.findStateAfter(after)) ?? null
    },
    active: (sessionId) => runs.activeIn(sessionId),
    reuse: (sessionId, owners) => store.shareSession(sessionId, owners, timestamp(clock())),
    async unshare(sessionId, kind, ownerId) {
      await get(sessionId)
      if (await store.unshareSession(sessionId, kind, ownerId, timestamp(clock()))) return
      throw new AppError('owner_not_found', `The session is not shared with the ${kind} '${ownerId}'.`, { sessionId })
    },
    async search(query, filter, page) {
      const words = searchWordsOf(query)
      if (words.length === 0) throw invalid('q must have a letter or a digit.', 'q')
      const { items, next } = await store.searchMessages({ ...filter, words }, page)
      return { items: items.map((hit) => ({ ...hit, marks: marksIn(hit.snippet, words) })), next }
    },
    async history(sessionId, interactions, withEvents, view) {
      await readBasis(sessionId)
      if (view?.before !== undefined) await assertTurn(store, sessionId, view.before)
      const history = await store.readHistory(sessionId, interactions, view)
      const summary = (await store.findSummary(sessionId)) ?? null
      if (!withEvents) return { ...history, summary }
      return { ...history, summary, events: readEvents }
    },
  }
}

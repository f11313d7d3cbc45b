import { isAppError, notFound } from '../../core/error.ts'
import type { Page, PageRequest } from '../../core/page.ts'
import { isTry, type Run, type RunHead } from '../../core/run.ts'
import type { Handover, Session, SessionRecord } from '../../core/session.ts'
import type { History, HistoryView, RunFilter, SessionStore } from '../../core/store.ts'
import type { PartOfSession, Services, SessionFile } from '../services.ts'

const newestRuns = 100
const newestRunsInLists = 10

/** A session. `part`: what the user may read of it, if it belongs to another user now. */
export interface SeenSession {
  record: SessionRecord
  part: PartOfSession | undefined
}

/** What one user may read: the user's sessions, and sessions that were handed over, as far as they went until then. */
export function createReading(
  { sessions, runs }: Pick<Services, 'sessions' | 'runs'>,
  store: Pick<SessionStore, 'findHandover' | 'isBefore'>,
  userId: string,
) {
  const isOwn = ({ user_id }: Session) => user_id === userId

  async function handoverOf(session: Session, newest: number): Promise<Handover | undefined> {
    if (!session.shared_with.user_ids.includes(userId)) return undefined
    return store.findHandover(session.session_id, userId, newest)
  }

  /** Throws `session_not_found`. */
  async function session(sessionId: string): Promise<SeenSession> {
    const record = await sessions.get(sessionId)
    if (isOwn(record.session)) return { record, part: undefined }
    const handover = await handoverOf(record.session, newestRuns)
    if (handover === undefined) throw notFound('session', sessionId)
    const last = handover.runs.at(-1)?.run_id ?? null
    return { record, part: { session: await partOf(record.session, handover), last } }
  }

  /** Without the marks of turns that were replaced after the handover. */
  async function asThen<R extends Pick<Run, 'replaced_by'>>(items: readonly R[], { next }: Handover): Promise<R[]> {
    const marks = new Set(items.map(({ replaced_by }) => replaced_by))
    const known = new Map<string | null, boolean>()
    for (const by of marks) {
      known.set(by, by === null || next === null || (await store.isBefore(by, next.run_id)))
    }
    return items.map((item) => (known.get(item.replaced_by) ? item : { ...item, replaced_by: null }))
  }

  /** Without name, metadata and state: the present user may have changed them. */
  async function partOf(whole: Session, handover: Handover): Promise<Session> {
    const runs = await asThen(handover.runs, handover)
    const { run_count } = handover
    const shared_with = { ...whole.shared_with, user_ids: [userId] }
    const summary = covers(whole, handover) ? whole.summary : null
    return { ...whole, name: null, metadata: null, state: null, shared_with, run_count, runs, summary }
  }

  /** Leaves out sessions that are no longer shared with the user. */
  async function listed(items: readonly Session[]): Promise<Session[]> {
    const seen = await Promise.all(
      items.map(async (item) => {
        if (isOwn(item)) return item
        const handover = await handoverOf(item, newestRunsInLists)
        return handover === undefined ? [] : partOf(item, handover)
      }),
    )
    return seen.flat()
  }

  /** Reads only runs before the handover, also when the session is handed over while reading. */
  async function until<T>(sessionId: string, read: (before?: string) => Promise<T>): Promise<T> {
    const next = async () => {
      const handover = await store.findHandover(sessionId, userId, 0)
      if (handover === undefined) throw notFound('session', sessionId)
      return handover.next?.run_id
    }
    const before = await next()
    const answer = await read(before)
    if (before !== undefined) return answer
    const begun = await next()
    return begun === undefined ? answer : read(begun)
  }

  /** The conversation as it was at the handover, what led to one of its turns, or all its turns. */
  async function history<H extends History>(
    sessionId: string,
    view: HistoryView | undefined,
    read: (view: HistoryView) => Promise<H>,
  ): Promise<H> {
    const handover = await store.findHandover(sessionId, userId, 0)
    if (handover === undefined) throw notFound('session', sessionId)
    const found = await readPart(sessionId, view, handover, read)
    return { ...found, runs: await asThen(found.runs, handover) }
  }

  async function readPart<H>(
    sessionId: string,
    { before, replaced }: HistoryView = {},
    { last, next }: Handover,
    read: (view: HistoryView) => Promise<H>,
  ): Promise<H> {
    if (before !== undefined) {
      // What led to a turn is older than it.
      if (next !== null && !(await store.isBefore(before, next.run_id))) throw notFound('run', before)
      return read({ before, replaced })
    }
    if (replaced === true) return until(sessionId, (first) => read({ replaced, before: first }))
    return read({ upTo: last ?? '' })
  }

  async function mayRead(run: RunHead): Promise<boolean> {
    if (run.user_id === userId) return true
    const found = await find(session(run.session_id))
    if (found === undefined) return false
    if (found.part === undefined) return true
    // It is no turn, so that nothing says whether it began before the handover.
    if (isTry(run)) return false
    const handover = await store.findHandover(run.session_id, userId, 0)
    if (handover === undefined) return false
    if (handover.next === null) return true
    let outer: RunHead | undefined = run
    while (outer !== undefined && outer.parent_run_id !== null) outer = await find(runs.head(outer.parent_run_id))
    return outer !== undefined && (await store.isBefore(outer.run_id, handover.next.run_id))
  }

  /** Throws `run_not_found`. */
  async function run<R extends RunHead>(reading: Promise<R>, runId: string): Promise<R> {
    const found = await reading
    if (!(await mayRead(found))) throw notFound('run', runId)
    return (await withReadableMarks([found]))[0] ?? found
  }

  /** Without the marks that name a run of somebody else. */
  async function withReadableMarks<R extends Pick<Run, 'replaced_by'>>(items: readonly R[]): Promise<R[]> {
    const known = new Map<string | null, boolean>([[null, true]])
    for (const { replaced_by: by } of items) {
      if (by === null || known.has(by)) continue
      const head = await find(runs.head(by))
      known.set(by, head !== undefined && (await mayRead(head)))
    }
    return items.map((item) => (known.get(item.replaced_by) ? item : { ...item, replaced_by: null }))
  }

  async function listRuns(filter: RunFilter, page: PageRequest): Promise<Page<Run>> {
    const { session_id: sessionId, parent_run_id: parentId } = filter
    const found = sessionId === undefined ? undefined : await find(session(sessionId))
    if (sessionId === undefined || found === undefined) {
      const own = await runs.list({ ...filter, user_id: userId }, page)
      return { ...own, items: await withReadableMarks(own.items) }
    }
    const parent = parentId === undefined ? undefined : await find(runs.head(parentId))
    // The child runs of a readable run are readable too, even if they began after the handover.
    if (found.part === undefined || (parent !== undefined && (await mayRead(parent)))) return runs.list(filter, page)
    const turns = { ...filter, again: undefined }
    const listed = await until(sessionId, (before) => runs.list({ ...turns, before }, page))
    const handover = await store.findHandover(sessionId, userId, 0)
    return handover === undefined ? listed : { ...listed, items: await asThen(listed.items, handover) }
  }

  /** The files of a readable session, or of a readable run. Throws `session_not_found`, `file_not_found`. */
  async function file(sessionId: string, fileId: string): Promise<SessionFile> {
    const seen = await find(session(sessionId))
    const found = await find(sessions.file(sessionId, fileId))
    if (found !== undefined) {
      if (seen !== undefined && seen.part === undefined) return found
      const head = await find(runs.head(found.file.run_id))
      if (head !== undefined && (await mayRead(head))) return found
    }
    throw seen === undefined ? notFound('session', sessionId) : notFound('file', fileId)
  }

  return { session, listed, history, run, runs: listRuns, file }
}

/** Whether a summary covers no run after the handover: it counts no more runs, and was written earlier. */
function covers({ summary }: Session, { next, run_count }: Handover): boolean {
  return summary !== null && (next === null || (summary.run_count <= run_count && summary.created_at < next.created_at))
}

/** Undefined when the session, run or file does not exist. */
async function find<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isAppError(error) && /^(?:session|run|file)_not_found$/.test(error.code)) return undefined
    throw error
  }
}

import { AppError, invalid, notFound } from '../../core/error.ts'
import { isFinalEvent, type RunEvent } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Limits } from '../../core/limits.ts'
import { isEnded, isTry, type RunRecord, type Waiting } from '../../core/run.ts'
import type { RunPiece, SessionCopy, SessionHead, SessionRecord } from '../../core/session.ts'
import type { SessionStore } from '../../core/store.ts'
import { type Clock, timestamp } from '../../core/time.ts'
import { withoutRemoteTask } from '../../core/waiting.ts'
import { tooLarge } from '../files/check.ts'
import { filesOf } from '../files/content.ts'
import type { ForkSession, ImportSession, PartOfSession, SessionPiece } from '../services.ts'
import { conversationTo, createMarks, cutBefore, wholeSession } from './copied-turns.ts'

const recordsAtOnce = 20
const eventsAtOnce = 500

export function createSessionCopies(store: SessionStore, clock: Clock, { fileBytes }: Pick<Limits, 'fileBytes'>) {
  /** All ended runs except tries, or those up to `last` with its child runs; null: none. */
  async function* runsOf(sessionId: string, last?: string | null): AsyncGenerator<RunRecord> {
    const ended = new Set<string>()
    const withMarks = createMarks(store, last)
    let isPast = last === null
    for (let after: string | undefined; ; ) {
      const records = await store.readRecords(sessionId, after, recordsAtOnce)
      for (const run of records) {
        if (isTry(run)) continue
        if (run.parent_run_id === null) {
          if (isPast) continue
          isPast = run.run_id === last
        }
        // An active run is not complete yet, and its child runs mean nothing without it.
        if (!isEnded(run.status) || (run.parent_run_id !== null && !ended.has(run.parent_run_id))) continue
        ended.add(run.run_id)
        yield run.replaced_by === null && run.follows === undefined ? run : await withMarks(run)
      }
      after = records.at(-1)?.run_id
      if (after === undefined) return
    }
  }

  async function* eventsOf(runId: string): AsyncGenerator<RunEvent[]> {
    for (let after = 0; ; ) {
      const page = await store.readEvents(runId, after, eventsAtOnce)
      const last = page.at(-1)
      if (last === undefined) return
      const events = page.filter((event) => event.type !== 'run_start' && !isFinalEvent(event))
      if (events.length > 0) yield events
      after = last.seq
    }
  }

  async function* piecesOf(run: RunRecord): AsyncGenerator<RunPiece> {
    yield { run }
    for await (const events of eventsOf(run.run_id)) yield ofCopy({ run_id: run.run_id, events })
    for await (const file of filesOf(store, run.run_id)) yield { run_id: run.run_id, file }
  }

  /** The turn that a try becomes in another session, and its child runs, which are stored after it. */
  async function* turnOfTry(tried: RunRecord): AsyncGenerator<RunRecord> {
    const ids = new Set([tried.run_id])
    yield { ...tried, again_of: tried.again_of && { ...tried.again_of, keep: 'fork' } }
    for (let after: string | undefined = tried.run_id; after !== undefined; ) {
      const records: RunRecord[] = await store.readRecords(tried.session_id, after, recordsAtOnce)
      for (const run of records) {
        if (run.parent_run_id === null || !ids.has(run.parent_run_id)) continue
        ids.add(run.run_id)
        yield { ...run, again_of: null }
      }
      after = records.at(-1)?.run_id
    }
  }

  return {
    async *export(
      { session: whole }: SessionRecord,
      withEvents: boolean,
      part?: PartOfSession,
    ): AsyncGenerator<SessionPiece> {
      const { session, last } = part ?? { session: whole }
      const { runs: _runs, run_count: _count, summary, ...rest } = session
      const kept = await store.listHandovers(session.session_id)
      const handovers = Object.fromEntries(rest.shared_with.user_ids.map((user) => [user, kept[user] ?? null]))
      yield { session: rest, summary, ...(rest.shared_with.user_ids.length > 0 && { handovers }) }
      for await (const run of runsOf(session.session_id, last)) {
        yield { run }
        if (withEvents) for await (const events of eventsOf(run.run_id)) yield { run_id: run.run_id, events }
        for await (const file of filesOf(store, run.run_id)) yield { run_id: run.run_id, file }
      }
    },

    async import(copy: SessionCopy, { newIds, userId }: ImportSession): Promise<SessionRecord> {
      const bounded = { ...copy, runs: mapPieces(copy.runs, (piece) => ofCopy(assertSize(piece, fileBytes))) }
      const given = newIds ? withNewIds(bounded, createId('ses', clock()), clock()) : bounded
      return store.restoreSession(userId === undefined ? given : ownedBy(given, userId))
    },

    async fork(origin: SessionRecord, { runId: last, beforeRunId, ...fork }: ForkSession): Promise<SessionRecord> {
      const { sessionId, userId, andTry } = fork
      const { runs: _runs, run_count: count, summary, ...session } = origin.session
      const cut = beforeRunId === undefined ? { last } : await cutBefore(store, session.session_id, beforeRunId)
      const runId = cut.last
      const taken = new Set<string>()
      let outerRuns = 0
      let lastTaken: string | undefined
      async function* runs(): AsyncGenerator<RunPiece> {
        yield* earlier()
        if (andTry !== undefined) for await (const run of turnOfTry(andTry)) yield* piecesOf(run)
      }
      async function* earlier(): AsyncGenerator<RunPiece> {
        if (runId === null) return
        let isPast = false
        const { replaced, shown } = runId === undefined ? wholeSession : await conversationTo(store, runId)
        let isShown = shown !== undefined
        // The fork of a turn has its conversation only; that of the session, replaced turns too.
        const isWanted = (run: RunRecord) =>
          runId === undefined || replaced.has(run.run_id) || (isShown && run.replaced_by === null)
        for await (const found of runsOf(session.session_id)) {
          const { parent_run_id: parent } = found
          const isOuter = parent === null
          // Child runs of the last run come after it.
          if (isOuter ? isPast || !isWanted(found) : !taken.has(parent)) continue
          const run: RunRecord = runId === undefined ? found : { ...found, replaced_by: null, follows: undefined }
          taken.add(run.run_id)
          if (run.run_id === shown) isShown = false
          if (isOuter) {
            lastTaken = run.run_id
            outerRuns++
          }
          yield* piecesOf(run)
          isPast ||= run.run_id === runId
        }
        if (runId !== undefined && !isPast) await explainMissing(session.session_id, runId)
      }
      const now = clock()
      const at = timestamp(now)
      const begun: SessionHead['session'] = {
        ...session,
        ...('state' in cut && { state: cut.state }),
        shared_with: { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] },
        created_at: at,
        updated_at: at,
      }
      const named = (head: SessionHead) => {
        const copy = withNewIds({ ...head, runs: runs() }, id, now, andTry?.run_id)
        return userId === undefined ? copy : ownedBy(copy, userId)
      }
      const id = sessionId ?? createId('ses', now)
      return store.restoreSession(
        named({ session: begun, summary: null }),
        () => {
          const forked_from = { session_id: session.session_id, run_id: lastTaken ?? null }
          const metadata = { ...session.metadata, forked_from }
          return named({ session: { ...begun, metadata }, summary: outerRuns === count ? summary : null })
        },
        andTry?.run_id,
      )
    },
  }

  async function explainMissing(sessionId: string, runId: string): Promise<never> {
    const run = await store.findRun(runId)
    if (run === undefined || run.session_id !== sessionId) throw notFound('run', runId)
    if (isTry(run)) throw invalid('This run only tries another one again. Fork at that one.', 'run_id')
    if (run.parent_run_id !== null) throw invalid('This run is a child of another run. Fork at its parent.', 'run_id')
    throw new AppError('conflict', 'The run has not ended. Wait, or fork at an earlier run.', { runId })
  }
}

/** `kept`: a run that still names the run of another session which it repeats. */
function withNewIds(
  { session, summary, handovers, runs }: SessionCopy,
  sessionId: string,
  now: number,
  kept?: string,
): SessionCopy {
  const ids = new Map<string, string>()
  const copied = new Set<string>()
  // Ids are made on first mention: a session or a child run names a run before it comes.
  const renamed = (id: string) => {
    const known = ids.get(id) ?? createId('run', now)
    ids.set(id, known)
    return known
  }
  return {
    session: { ...session, session_id: sessionId },
    summary: summary && { ...summary, session_id: sessionId },
    handovers: handovers && mapValues(handovers, (id) => id && renamed(id)),
    runs: mapPieces(runs, (piece) => {
      if ('file' in piece) return { ...piece, run_id: renamed(piece.run_id) }
      if (!('run' in piece)) {
        const run_id = renamed(piece.run_id)
        return { run_id, events: piece.events.map((event) => ({ ...renamedIn(event, ids, renamed), run_id })) }
      }
      const { run } = piece
      const run_id = renamed(run.run_id)
      const parent_run_id = run.parent_run_id && renamed(run.parent_run_id)
      const replaced_by = run.replaced_by && renamed(run.replaced_by)
      const follows = run.follows && renamed(run.follows)
      const messages = run.messages.map((message) => ({ ...message, message_id: createId('msg', now), run_id }))
      const waiting = run.waiting.map((one) => renamedIn(one, ids, renamed))
      const { again_of: again } = run
      const isCopied = again !== null && copied.has(again.run_id)
      const again_of = isCopied ? { ...again, run_id: renamed(again.run_id) } : run.run_id === kept ? again : null
      copied.add(run.run_id)
      const marks = { replaced_by, follows, again_of }
      return { run: { ...run, run_id, session_id: sessionId, parent_run_id, ...marks, messages, waiting } }
    }),
  }
}

const ownRunId = /^run_[0-9a-z]{26}$/

/** With the new ids of the child runs that it names: also in the ids of requests and in a team's checkpoint. */
function renamedIn<T extends RunEvent | Waiting>(
  named: T,
  ids: ReadonlyMap<string, string>,
  renamed: (id: string) => string,
): T {
  const inId = (id: string) => {
    const segments = id.split('/')
    const own = segments.findIndex((segment) => !ids.has(segment) && !ownRunId.test(segment))
    const runs = own === -1 ? segments.length : own
    return segments.map((segment, place) => (place < runs ? renamed(segment) : segment)).join('/')
  }
  const inKeys = <V>(byId: Record<string, V>) =>
    Object.fromEntries(Object.entries(byId).map(([id, value]) => [inId(id), value]))
  const change: Record<string, unknown> = {}
  // An event of a later version may have other values under these names.
  if ('child_run_id' in named && typeof named.child_run_id === 'string') {
    change.child_run_id = renamed(named.child_run_id)
    if ('call_id' in named && typeof named.call_id === 'string') change.call_id = inId(named.call_id)
  }
  if ('messages' in named && isInside(named.messages)) {
    change.messages = { ...named.messages, inside: mapValues(named.messages.inside, renamed) }
  }
  if ('approved' in named && isObject(named.approved)) change.approved = inKeys(named.approved)
  if ('answers' in named && isObject(named.answers)) change.answers = inKeys(named.answers)
  return { ...named, ...change }
}

/** Whether a checkpoint names the child runs that its calls wait for. */
function isInside(messages: unknown): messages is JsonObject & { inside: Record<string, string> } {
  if (!isObject(messages) || !isObject(messages.inside)) return false
  return Object.values(messages.inside).every((id) => typeof id === 'string')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function ofCopy(piece: RunPiece): RunPiece {
  return 'events' in piece ? { ...piece, events: piece.events.map(withoutRemoteTask) } : piece
}

function assertSize(piece: RunPiece, fileBytes: number): RunPiece {
  if (!('file' in piece) || piece.file.bytes.byteLength <= fileBytes) return piece
  const { file_id, bytes } = piece.file
  throw new AppError('payload_too_large', `The file '${file_id}' ${tooLarge(bytes.byteLength, fileBytes)}`)
}

function mapValues<T, U>(values: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}

function ownedBy({ session, summary, runs }: SessionCopy, userId: string): SessionCopy {
  return {
    session: { ...session, user_id: userId, shared_with: { ...session.shared_with, user_ids: [] } },
    summary,
    runs: mapPieces(runs, (piece) => ('run' in piece ? { run: { ...piece.run, user_id: userId } } : piece)),
  }
}

async function* mapPieces(
  pieces: AsyncIterable<RunPiece>,
  change: (piece: RunPiece) => RunPiece,
): AsyncGenerator<RunPiece> {
  for await (const piece of pieces) yield change(piece)
}

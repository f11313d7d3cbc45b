import type { EmittedEvent, SourceEvent } from '../../src/core/event.ts'
import { isTurn, type RunRecord, type RunStatus, runStatuses, type Usage } from '../../src/core/run.ts'
import type { RunEnd, RunStart } from '../../src/core/run-write.ts'
import type { SessionBasis, SessionListFilter, SessionStore } from '../../src/core/store.ts'
import {
  allPages,
  at,
  claimOf,
  endOf,
  eventOf,
  messageOf,
  seedOf,
  startOf,
} from '../contract/session-store/builders.ts'

/** The same write for several stores. It is made anew for none of them, so that they get the same ids. */
export interface Write {
  to: (store: SessionStore) => Promise<unknown>
  /** The turn that would pass by those that wait. Only a store that several processes write to prevents that. */
  mustWait?: { sessionId: string; runId: string } | undefined
}

/** Whether stores may differ in the outcome. */
export async function passesBy(store: SessionStore, { mustWait }: Write): Promise<boolean> {
  if (mustWait === undefined) return false
  const { sessionId, runId } = mustWait
  const waiting = await store.listRuns({ session_id: sessionId, status: 'queued' }, { limit: 100 })
  const turns = waiting.items.filter(isTurn).map(({ run_id }) => run_id)
  return turns.length > 0 && turns.at(-1) !== runId
}

const users = ['ann', 'bob', 'eve']
const agents = ['one', 'two']
const sessions = ['s1', 's2', 's3', 's4']
const texts = ['hi', '', 'Straße \u0000 \ud83d\ude00', `"],"sources":[${'long '.repeat(3_000)}`, '   \n ']
/** For columns that are no JSON, in which Postgres keeps no U+0000. */
const shown = ['hi', '', 'Straße \ud83d\ude00']
const large = { note: 'x'.repeat(1_500), '"metadata":': [',"metadata":', '\u0000', '\ud800'] }

/** Writes of many kinds to a few sessions, also such as must be refused; with the ids of the runs that they name. */
export function randomHistory(random: () => number, length: number): { writes: Write[]; runs: string[] } {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const oneIn = (n: number) => random() * n < 1
  const runs: string[] = []
  const seqs = new Map<string, number>()
  const sessionOf = new Map<string, string>()
  const anyRun = () => pick(runs.slice(-12)) ?? 'none'

  function start(n: number): RunStart {
    const runId = `r${n}`
    const parent = oneIn(6) ? anyRun() : null
    const again = { run_id: anyRun(), from: null, after: 'live', keep: oneIn(2) ? 'no' : 'replace' } as const
    const run: Partial<RunRecord> = {
      ...{ run_id: runId, session_id: pick(sessions), parent_run_id: parent, created_at: at(n) },
      ...{ entity_id: pick(agents), entity_kind: pick(['agent', 'team', 'workflow'] as const) },
      ...{ status: oneIn(3) ? 'queued' : 'running', background: oneIn(4), user_id: pick([null, ...users]) },
      ...{ metadata: pick([null, { a: 1 }, large]), timeout_ms: oneIn(4) ? 5_000 : null },
      ...{ again_of: oneIn(6) ? again : null, given: oneIn(4) ? { instructions: pick(texts) } : null },
    }
    runs.push(runId)
    seqs.set(runId, 2)
    if (isTurn({ parent_run_id: parent, again_of: run.again_of ?? null }))
      sessionOf.set(runId, run.session_id as string)
    const made = startOf({
      run,
      session: oneIn(2)
        ? seedOf({ session_id: run.session_id as string, user_id: pick(users), created_at: at(n) })
        : null,
      claim: oneIn(5) ? claimOf(`k${Math.floor(random() * 9)}`) : null,
      state: oneIn(3) ? { [pick(agents)]: n } : null,
      text: pick(texts),
    })
    const replaces = oneIn(5) && parent === null && run.again_of == null ? anyRun() : undefined
    return { ...made, unchecked: oneIn(6), replaces }
  }

  function events(runId: string, n: number) {
    const from = seqs.get(runId) ?? 2
    const some: EmittedEvent[] = Array.from({ length: Math.floor(random() * 5) }, (): EmittedEvent => {
      if (oneIn(5)) return source(n)
      return oneIn(5)
        ? ({ type: 'data', data: { n, text: pick(texts) } } as never)
        : { type: 'text_delta', text: pick(texts) }
    })
    seqs.set(runId, from + some.length)
    return some.map((body, index) => eventOf(runId, from + index, body, at(n)))
  }

  function end(runId: string, n: number): RunEnd {
    const status: RunEnd['status'] = pick([
      'completed',
      'completed',
      'failed',
      'cancelled',
      'interrupted',
      'input_required',
    ])
    const own = events(runId, n)
    const endSeq = seqs.get(runId) ?? 2
    seqs.set(runId, endSeq + 1)
    const waits = status === 'input_required'
    const usage = usageOf(n)
    return endOf(runId, {
      ...{ status, completed_at: at(n), end_seq: endSeq, events: own, fence: pick([1, 1, 1, 1, 2]) },
      error: status === 'failed' ? { code: 'x', message: pick(['no', 'Ö'.repeat(12_000)]) } : null,
      messages: oneIn(5) ? [] : [messageOf(runId, 'assistant', pick(texts), at(n))],
      sources: oneIn(4) ? Array.from({ length: pick([1, 60]) }, () => source(n)) : [],
      waiting: waits ? [{ kind: 'input', prompt: '?', data: { ',"sources":[': pick(['a', 'y'.repeat(40_000)]) } }] : [],
      usage: oneIn(3) ? null : usage,
      ...(oneIn(2) && { usage_by_model: [{ model: pick(['a', 'b']), ...usage, largest_input_tokens: n }] }),
      ...(oneIn(4) && { state: oneIn(3) ? null : { ended: n } }),
      ...(oneIn(3) && { checked: true }),
      ...(oneIn(12) && { refused: [runId] }),
      ...(oneIn(6) && { bringsBack: true }),
    })
  }

  function write(n: number): Write {
    const runId = anyRun()
    const session = pick(sessions)
    const kind = random()
    if (kind < 0.3) {
      const made = start(n)
      const { run } = made
      const to = async (store: SessionStore) => {
        // A store of one process does not tell these two.
        return { ...(await store.startRun(made)), revision: undefined, birth: undefined }
      }
      return {
        to,
        mustWait: run.status === 'running' && isTurn(run) ? { sessionId: run.session_id, runId: '' } : undefined,
      }
    }
    if (kind < 0.4) {
      const sessionId = sessionOf.get(runId)
      return {
        to: (store) => store.beginRun(runId, 1, at(n)),
        mustWait: sessionId === undefined ? undefined : { sessionId, runId },
      }
    }
    return { to: change(kind, runId, session, n) }
  }

  function change(kind: number, runId: string, session: string, n: number): Write['to'] {
    if (kind < 0.55) {
      const batch = { run_id: runId, fence: 1, events: events(runId, n), reserve_until: 2_000 + n, checked: oneIn(4) }
      return (store) => store.appendEvents(batch)
    }
    if (kind < 0.8) {
      const made = end(runId, n)
      return (store) => store.finishRun(made)
    }
    if (kind < 0.84) {
      const from = (seqs.get(runId) ?? 3) - 1
      seqs.set(runId, from + 2)
      const resume = { run_id: runId, end_seq: from, owner: 'one', at: at(n), reserve_until: 3_000 + n }
      const resumed = eventOf(runId, from + 1, { type: 'run_resumed' } as never, at(n))
      return (store) => store.resumeRun({ ...resume, events: [resumed] })
    }
    if (kind < 0.87) {
      const owners = oneIn(2) ? { user_id: pick(users) } : { agent_id: pick(agents) }
      return (store) => store.shareSession(session, owners, at(n))
    }
    if (kind < 0.89) {
      const user = pick(users)
      return (store) => store.unshareSession(session, 'user', user, at(n))
    }
    if (kind < 0.92) {
      const change = oneIn(2) ? { name: pick(shown) } : { metadata: { forked_from: { session_id: 's0' } } }
      return (store) => store.updateSession(session, change, at(n))
    }
    if (kind < 0.94) {
      const summary = { session_id: session, content: pick(texts), model: 'm', run_count: 1, message_count: 2 }
      return (store) => store.saveSummary({ ...summary, created_at: at(n) })
    }
    if (kind < 0.95) return (store) => store.scheduleSummary(session, at(n))
    if (kind < 0.97) return (store) => store.cacheAnswer({ key: session, run_id: runId, expires_at: at(1e9) })
    if (kind < 0.98) return (store) => store.restoreTurn(runId, at(n))
    if (kind < 0.985) return (store) => store.deleteSession(session)
    const user = pick(users)
    return (store) =>
      store.createSession(seedOf({ session_id: session, user_id: user, metadata: large, created_at: at(n) }))
  }

  return { writes: Array.from({ length }, (_, n) => write(n)), runs }
}

function usageOf(n: number): Usage {
  return { input_tokens: n, output_tokens: 1, total_tokens: n + 1, ...(n % 3 === 0 && { reasoning_tokens: n }) }
}

function source(index: number): SourceEvent {
  return { type: 'source', index, source: 'a "b".md', document_id: 'd', chunk_id: `c${index}` }
}

/** Everything that a store says of these runs and of the sessions. */
export async function answersOf(store: SessionStore, runs: readonly string[]): Promise<Record<string, unknown>> {
  const answers: [name: string, answer: Promise<unknown>][] = []
  // All at once, so that reads which share a statement do.
  const ask = (name: string, read: () => Promise<unknown> | undefined) => answers.push([name, Promise.resolve(read())])
  for (const run of [...runs, 'none']) {
    ask(`run ${run}`, () => store.findRun(run))
    ask(`head of ${run}`, () => store.findRunHead?.(run))
    ask(`events of ${run}`, () => store.readEvents(run, 0, 10_000))
    ask(`more events of ${run}`, () => store.readEvents(run, 3, 3))
    ask(`some events of ${run}`, () => store.readEvents(run, 0, 10, ['source', 'run_end']))
    ask(`state before ${run}`, () => store.findStateBefore(run))
    ask(`state after ${run}`, () => store.findStateAfter?.(run))
    ask(`inside ${run}`, () => store.listRuns({ parent_run_id: run }, { limit: 100 }))
    ask(`files of ${run}`, () => store.listFiles(run))
  }
  for (const session of [...sessions, 'none']) {
    ask(`session ${session}`, () => store.findSession(session))
    ask(`basis of ${session}`, () => basisOf(store, session))
    ask(`summary of ${session}`, () => store.findSummary(session))
    ask(`answer ${session}`, () => store.findCached(session))
    ask(`handovers of ${session}`, () => store.listHandovers(session))
    ask(`records of ${session}`, () => store.readRecords(session, undefined, 1_000))
    for (const user of [undefined, ...users]) {
      ask(`overview of ${session} for ${user}`, () => store.findOverview(session, user))
      if (user !== undefined) ask(`handover of ${session} to ${user}`, () => store.findHandover(session, user, 3))
    }
    for (const run of runs.slice(-8)) {
      ask(`history of ${session} before ${run}`, () => store.readHistory(session, 4, { before: run }))
      ask(`history of ${session} up to ${run}`, () => store.readHistory(session, 4, { upTo: run }))
      ask(`turns of ${session} before ${run}`, () => store.readHistory(session, 4, { replaced: true, before: run }))
    }
    ask(`history of ${session}`, () => store.readHistory(session, 3))
    ask(`turns of ${session}`, () => store.readHistory(session, 50, { replaced: true }))
  }
  for (const filter of listFilters()) {
    const name = JSON.stringify(filter)
    ask(`sessions ${name}`, () => allPages((cursor) => store.listSessions(filter, { limit: 2, cursor })))
    ask(`overviews ${name}`, () => allPages((cursor) => store.listOverviews(filter, { limit: 2, cursor })))
    ask(`number of sessions ${name}`, () => store.countSessions(filter))
  }
  for (const filter of [
    {},
    { again: true },
    { user_id: 'ann' },
    { agent_id: 'one' },
    { session_id: 's1' },
    { before: 'r9' },
  ]) {
    for (const status of [undefined, ...runStatuses]) {
      const wanted = { ...filter, status }
      ask(`runs ${JSON.stringify(wanted)}`, () => allPages((cursor) => store.listRuns(wanted, { limit: 7, cursor })))
    }
  }
  ask('jobs', () => store.listSummaryJobs())
  for (let key = 0; key < 9; key++) ask(`claim ${key}`, () => store.findClaim(`k${key}`))
  return Object.fromEntries(await Promise.all(answers.map(async ([name, answer]) => [name, await answer])))
}

async function basisOf(store: SessionStore, sessionId: string): Promise<SessionBasis | undefined> {
  if (store.readBasis !== undefined) return store.readBasis(sessionId)
  const found = await store.findSession(sessionId)
  return found && { state: found.session.state, user_id: found.session.user_id }
}

function listFilters(): SessionListFilter[] {
  const statuses: (RunStatus | undefined)[] = [undefined, ...runStatuses]
  return statuses.flatMap((status) => [
    { status },
    { status, user_id: 'ann' },
    { status, user_id: 'bob', as_user: true },
    { status, user_id: 'ann', agent_id: 'one' },
    { status, agent_id: 'two', updated_before: at(200) },
  ])
}

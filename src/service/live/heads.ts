import type { Page } from '../../core/page.ts'
import type { Run, RunHead } from '../../core/run.ts'
import type { SessionOverview } from '../../core/session.ts'
import type { SessionStore } from '../../core/store.ts'

/** What the store has of changed things; undefined: nothing any more. */
export interface LiveHeads {
  session(sessionId: string): Promise<SessionOverview | undefined>
  run(runId: string): Promise<RunHead | undefined>
  /** The newest runs of a session, or of a parent run. */
  runs(sessionId: string): Promise<Page<Run>>
  children(runId: string): Promise<Page<Run>>
  /** The turns of a session that run, or wait for their turn. */
  underWay(sessionId: string): Promise<readonly string[]>
  userOf(sessionId: string): Promise<string | null | undefined>
}

const runsAtOnce = 100

export function headsOf(store: SessionStore): LiveHeads {
  return {
    session: (sessionId) => store.findOverview(sessionId),
    run: (runId) => store.findRunHead?.(runId) ?? store.findRun(runId),
    runs: (sessionId) => store.listRuns({ session_id: sessionId, again: true }, { limit: runsAtOnce }),
    children: (runId) => store.listRuns({ parent_run_id: runId, again: true }, { limit: runsAtOnce }),
    async underWay(sessionId) {
      const lists = await Promise.all(
        (['running', 'queued'] as const).map((status) =>
          store.listRuns({ session_id: sessionId, status, again: true }, { limit: runsAtOnce }),
        ),
      )
      return lists.flatMap(({ items }) =>
        items.flatMap(({ run_id: runId, parent_run_id: parent }) => (parent === null ? [runId] : [])),
      )
    },
    async userOf(sessionId) {
      const basis = await (store.readBasis?.(sessionId) ?? store.findSession(sessionId))
      if (basis === undefined) return undefined
      return 'session' in basis ? basis.session.user_id : basis.user_id
    },
  }
}

/** Reads the same thing once until `forget`. */
export function shareHeads(heads: LiveHeads): LiveHeads & { forget(key?: string): void } {
  const reads = new Map<string, Promise<unknown>>()
  function share<T>(kind: string, id: string, read: (id: string) => Promise<T>): Promise<T> {
    const key = `${kind} ${id}`
    const known = reads.get(key) as Promise<T> | undefined
    if (known !== undefined) return known
    const reading = read(id)
    reads.set(key, reading)
    return reading
  }
  return {
    ...heads,
    session: (id) => share('session', id, heads.session),
    run: (id) => share('run', id, heads.run),
    runs: (id) => share('runs', id, heads.runs),
    forget: () => reads.clear(),
  }
}

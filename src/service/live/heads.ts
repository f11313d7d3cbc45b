import type { Page } from '../../core/page.ts'
import type { Run, RunHead } from '../../core/run.ts'
import type { SessionOverview } from '../../core/session.ts'

/** What the store has of changed things; undefined: nothing any more. */
export interface LiveHeads {
  session(sessionId: string): Promise<SessionOverview | undefined>
  run(runId: string): Promise<RunHead | undefined>
  /** The newest runs of a session, or of a parent run. */
  runs(sessionId: string): Promise<Page<Run>>
  children(runId: string): Promise<Page<Run>>
  userOf(sessionId: string): Promise<string | null | undefined>
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

import { notFound } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { isEnded, isTurn, type RunHead, type RunRecord } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'

type Store = Pick<SessionStore, 'findRunHead' | 'findRun' | 'isBefore'>

export interface Conversation {
  replaced: ReadonlySet<string>
  shown: string | undefined
}

export const wholeSession: Conversation = { replaced: new Set(), shown: undefined }

/** Without marks that name a run outside the copy: an active one, or one after `last`. */
export function createMarks(store: Store, last: string | null | undefined) {
  const copied = new Map<string, boolean>()
  async function isCopied(runId: string): Promise<boolean> {
    const known = copied.get(runId)
    if (known !== undefined) return known
    const run = await (store.findRunHead?.(runId) ?? store.findRun(runId))
    const isPast = typeof last === 'string' && runId !== last && !(await store.isBefore(runId, last))
    const is = run !== undefined && isEnded(run.status) && !isPast
    copied.set(runId, is)
    return is
  }
  return async ({ replaced_by: by, follows, ...run }: RunRecord): Promise<RunRecord> => {
    const marked: RunRecord = { ...run, replaced_by: by !== null && (await isCopied(by)) ? by : null }
    if (follows !== undefined && (await isCopied(follows))) marked.follows = follows
    return marked
  }
}

/** The last turn before this one, null for the first, and the state then. Throws `run_not_found` unless it is a turn of the session. */
export async function cutBefore(
  store: Store & Pick<SessionStore, 'readHistory' | 'findStateBefore'>,
  sessionId: string,
  runId: string,
): Promise<{ last: string | null; state: JsonObject | null }> {
  await assertTurn(store, sessionId, runId)
  const { runs } = await store.readHistory(sessionId, 1, { before: runId })
  const state = await store.findStateBefore(runId)
  if (state === undefined) throw notFound('run', runId)
  return { last: runs.at(-1)?.run_id ?? null, state }
}

/** Throws `run_not_found` unless the run is a turn of the session, replaced or not. */
export async function assertTurn(store: Store, sessionId: string, runId: string): Promise<void> {
  const run = await (store.findRunHead?.(runId) ?? store.findRun(runId))
  if (run === undefined || run.session_id !== sessionId || !isTurn(run)) throw notFound('run', runId)
}

/** The conversation that ends with this turn: `replaced` turns, and those of the present one up to `shown`. */
export async function conversationTo(store: Store, runId: string): Promise<Conversation> {
  const replaced = new Set<string>()
  for (let next: string | undefined = runId; next !== undefined && !replaced.has(next); ) {
    const run: RunHead | undefined = await (store.findRunHead?.(next) ?? store.findRun(next))
    if (run?.replaced_by === null) return { replaced, shown: next }
    if (run === undefined) break
    replaced.add(next)
    next = run.follows
  }
  return { replaced, shown: undefined }
}

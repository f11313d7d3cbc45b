import type { Message } from '../../../../core/message.ts'
import { isTry, type RunRecord } from '../../../../core/run.ts'
import type { RunBatch, RunEnd, RunStart } from '../../../../core/run-write.ts'
import type { UsageRow } from '../../../rules/usage-rows.ts'
import { counted } from '../../../rules/usage-rows.ts'
import type { StoredBatch } from '../../rows/event-batch.ts'
import { begunOf, endedOf, messagesOf, noTurn, toJson } from '../../rows/rows.ts'

/* The rows of a group's documents, with the names of hot-statement.ts. What is false, null or absent is left out. */

/** JSON texts that were made already, of messages and of `given`. */
export type MadeTexts = ReadonlyMap<object | null, string>

/** What is known of a start's session from a query. */
export interface Decided {
  status: 'running' | 'queued'
  exists: boolean
  /** The session's state, when the start changes it; its text from before. */
  state?: { becomes: string; before: string } | undefined
}

type Maybe<T> = T | undefined

const yes = (value: boolean): true | undefined => value || undefined
const orAbsent = <T>(value: T | null): T | undefined => value ?? undefined

export interface StartRow {
  n: number
  i: string
  s: string
  qn: Maybe<number>
  [field: string]: string | number | true | undefined
}

export interface SessionRow {
  i: string
  at: string
  st: Maybe<string>
  [field: string]: string | undefined
}

/** A state that is only for a session that does not exist yet. */
const onlyNew = (state: string | null) => ` ${state ?? 'null'}`

/** Whether the start needs its session to be new: its state would be merged into that of another. */
export function needsNew({ run, session, state }: RunStart, decided?: Decided): boolean {
  if (session === null || isTry(run)) return false
  const changes = session.state !== null || (state !== null && run.status === 'running')
  return changes && decided?.exists !== true
}

/** `turn`: its place among the starts of the group that may wait for the same session. */
export function startRow(
  start: RunStart,
  end: RunEnd | undefined,
  batch: StoredBatch | undefined,
  place: number,
  turn: number | undefined,
  made?: MadeTexts,
  decided?: Decided,
): StartRow {
  const { run, session, state, claim } = start
  const status = decided?.status ?? run.status
  const runs = status === 'running'
  const tries = isTry(run)
  const seed = tries ? null : session
  const sets = end?.state !== undefined && !tries
  const isNew = needsNew(start, decided)
  return {
    n: place,
    i: run.run_id,
    s: run.session_id,
    e: run.entity_id,
    k: run.entity_kind,
    st: end?.status ?? status,
    tk: yes(runs && run.parent_run_id === null && !tries),
    qn: turn,
    u: orAbsent(run.user_id),
    p: run.parent_run_id ?? (tries ? noTurn : undefined),
    ty: yes(tries),
    bg: yes(run.background),
    uc: yes(start.unchecked === true && end?.checked !== true),
    tr: yes(run.truncated),
    sa: status === 'queued' ? undefined : orAbsent(run.started_at),
    l: batch?.lastSeq ?? 1,
    es: end?.end_seq,
    ss: runs ? undefined : orAbsent(toJson(state)),
    sb: isNew && (runs ? state !== null || sets : sets) ? (toJson(session?.state) ?? 'null') : decided?.state?.before,
    hb: yes(sets && !isNew && decided?.state === undefined),
    b: begunText(run),
    en: end && endedOf(end),
    inp: made?.get(run.messages) ?? messagesOf(run.messages),
    o: end && outputOf(end, made),
    lb: batch?.parts.at(-1)?.text,
    g: orAbsent(made?.get(run.given) ?? toJson(run.given)),
    ck: claim?.key,
    ch: claim?.hash,
    cx: claim?.expires_at,
    sd: yes(seed !== null),
    su: orAbsent(seed?.user_id ?? null),
    ns: yes(isNew),
  }
}

/** The row has a column for when it began. */
function begunText(run: RunRecord): string {
  return begunOf(run, null)
}

/** What a start does to its session; undefined for a try. */
export function sessionRow(start: RunStart, end: RunEnd | undefined, decided?: Decided): SessionRow | undefined {
  const { run, session } = start
  if (isTry(run)) return undefined
  const at = end !== undefined && end.completed_at > run.created_at ? end.completed_at : run.created_at
  return {
    i: run.session_id,
    at,
    a: orAbsent(session?.agent_id ?? null),
    t: orAbsent(session?.team_id ?? null),
    w: orAbsent(session?.workflow_id ?? null),
    u: orAbsent(session?.user_id ?? null),
    nm: orAbsent(session?.name ?? null),
    m: orAbsent(toJson(session?.metadata)),
    st: stateOf(start, end, decided),
    c: session?.created_at,
  }
}

function stateOf(start: RunStart, end: RunEnd | undefined, decided: Decided | undefined): string | undefined {
  const { run, session, state } = start
  if (!needsNew(start, decided)) {
    if (end?.state !== undefined) return toJson(end.state) ?? 'null'
    return decided?.state?.becomes
  }
  if (end?.state !== undefined) return onlyNew(toJson(end.state))
  const merges = state !== null && run.status === 'running'
  return onlyNew(toJson(merges ? { ...session?.state, ...state } : session?.state))
}

export function appendRow({ run_id, fence, reserve_until, checked }: RunBatch, batch: StoredBatch | undefined) {
  return {
    i: run_id,
    f: fence,
    q: batch?.firstSeq,
    l: batch?.lastSeq,
    v: reserve_until,
    t: batch?.parts[0].text,
    ck: yes(checked === true),
  }
}

export function endRow(end: RunEnd, batch: StoredBatch | undefined, place: number, made?: MadeTexts) {
  return {
    n: place,
    i: end.run_id,
    f: end.fence,
    st: end.status,
    en: endedOf(end),
    es: end.end_seq,
    o: outputOf(end, made),
    q: batch?.firstSeq,
    l: batch?.lastSeq,
    t: batch?.parts.at(-1)?.text,
    at: end.completed_at,
    ss: end.state === undefined ? undefined : orAbsent(toJson(end.state)),
    hs: yes(end.state !== undefined),
    ck: yes(end.checked === true),
  }
}

function outputOf({ messages }: RunEnd, made: MadeTexts | undefined): string | undefined {
  return messages.length === 0 ? undefined : (made?.get(messages as Message[]) ?? messagesOf(messages))
}

/** A row of sums; `key`: the id of a run or of a session. */
export function usageObject([key, model, ...values]: UsageRow): Record<string, string | number | null> {
  const row: Record<string, string | number | null> = { i: key, m: model }
  for (const [at, name] of counted.entries()) row[name] = values[at] as number
  row.largest_input_tokens = values.at(-1) ?? null
  return row
}

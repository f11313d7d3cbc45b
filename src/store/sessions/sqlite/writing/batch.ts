import type { JsonObject } from '../../../../core/json.ts'
import type { Message } from '../../../../core/message.ts'
import { isTry } from '../../../../core/run.ts'
import type {
  EventsAppended,
  RunBatch,
  RunBegun,
  RunEnd,
  RunFinished,
  RunStart,
  RunStarted,
} from '../../../../core/run-write.ts'
import type { SessionSeed } from '../../../../core/session.ts'
import type { BeginRun, RunWrite } from '../../../rules/run-writes.ts'
import { usageOf } from '../../../rules/session-usage.ts'
import { usageRow } from '../../../rules/usage-rows.ts'
import { encodeBatch, type StoredBatch } from '../../rows/event-batch.ts'
import { begunOf, endedOf, messagesOf, noTurn, toJson } from '../../rows/rows.ts'
import { type BatchRows, emptyRows } from './batch-insert.ts'

export type RunWriteOutcome = RunStarted | RunFinished | RunBegun | EventsAppended

/** One write, or a run's start with its own end. */
export interface BatchItem {
  write: RunWrite
  end?: RunEnd | undefined
}

/** Answers without a query. A wrong answer makes the database refuse the batch. */
export interface RowLookup {
  hasSession(sessionId: string): boolean
  /** The session of a run that has not ended, and is no try. */
  sessionOf(runId: string): string | undefined
  isHidden(sessionId: string): boolean
}

/** JSON texts of messages and of `given` that were made already. */
export type MadeTexts = ReadonlyMap<object | null, string>

interface Touched {
  sessionId: string
  seed: SessionSeed | undefined
  updatedAt: string
  revisions: number
  runs: number
  state: JsonObject | null | undefined
  /** Runs of this batch that changed the state. */
  changedBy: Set<string> | undefined
}

/** Whether the rows of a start come from what the database has. */
function readsFirst({ run, replaces, claim }: RunStart): boolean {
  return replaces !== undefined || isTry(run) || claim?.over !== undefined
}

/** Collects the rows of items, each of a different run. */
export class WriteBatch {
  readonly rows: BatchRows = emptyRows()
  readonly created = new Set<string>()
  readonly #known: RowLookup
  readonly #made: MadeTexts | undefined
  readonly #touched = new Map<string, Touched>()

  constructor(known: RowLookup, made?: MadeTexts) {
    this.#known = known
    this.#made = made
  }

  /** False when the item can't be written without a query first; then nothing is added. */
  add({ write, end }: BatchItem): boolean {
    switch (write.kind) {
      case 'start':
        return !readsFirst(write.start) && this.addStart(write.start, end)
      case 'begin':
        return this.#addBegin(write.begin)
      case 'append':
        return this.#addBatch(write.batch)
      case 'finish':
        return this.#addEnd(write.end)
    }
  }

  /** `becomes`: the session's new state, for a session that exists. A try comes without any, and without its end. */
  addStart(
    { run, session, state, claim, owner, unchecked }: RunStart,
    end: RunEnd | undefined,
    becomes?: JsonObject,
  ): boolean {
    const running = run.status === 'running'
    const merges = running && state !== null && becomes === undefined
    const exists = session === null || this.#known.hasSession(session.session_id)
    const seed = exists ? undefined : session
    if (seed && this.#known.isHidden(seed.session_id)) return false
    const earlier = this.#touched.get(run.session_id)
    if (merges && ((earlier === undefined && exists) || (earlier !== undefined && earlier.state === undefined)))
      return false
    const touched = isTry(run) ? undefined : this.#touch(run.session_id, run.created_at, seed ?? undefined)
    const takesTurn = run.parent_run_id === null
    if (touched !== undefined) {
      if (takesTurn) touched.runs += 1
      if (becomes !== undefined) this.#setState(touched, run.run_id, becomes)
      else if (merges) this.#setState(touched, run.run_id, { ...touched.state, ...state })
    }
    const batch = end && encodeBatch(end.events)
    this.rows.runs.push([
      run.run_id,
      run.session_id,
      run.entity_id,
      end?.status ?? run.status,
      run.user_id,
      run.parent_run_id ?? (touched === undefined ? noTurn : null),
      run.truncated ? 1 : 0,
      owner,
      batch?.lastSeq ?? 1,
      claim?.key ?? null,
      claim?.hash ?? null,
      claim?.expires_at ?? null,
      running ? null : toJson(state),
      begunOf(run),
      end ? endedOf(end) : null,
      this.#messagesOf(run.messages, unchecked === true && end?.checked !== true),
      end ? this.#outputOf(end) : null,
      this.#lastPart(run.run_id, batch),
      this.#made?.get(run.given) ?? toJson(run.given),
      run.user_id === null && seed?.user_id !== null ? 1 : 0,
    ])
    if (claim !== null) this.rows.claims.push([claim.key])
    if (end !== undefined) {
      if (running && takesTurn && (exists || earlier !== undefined)) this.rows.instants.push([run.session_id])
      this.#touchEnd(run.session_id, end)
      this.#addUsage(end)
    }
    return true
  }

  #addBegin(begin: BeginRun): boolean {
    const sessionId = this.#known.sessionOf(begin.runId)
    if (sessionId === undefined) return false
    this.addBegin(begin, sessionId)
    return true
  }

  /** `sessionId`, null for a try, and `becomes`, if given, come from a query. */
  addBegin({ runId, fence, at }: BeginRun, sessionId: string | null, becomes?: JsonObject): void {
    const touched = sessionId === null ? undefined : this.#touch(sessionId, at)
    if (touched !== undefined && becomes !== undefined) this.#setState(touched, runId, becomes)
    this.rows.begins.push([runId, fence, at])
  }

  #addBatch({ run_id, fence, events, reserve_until, checked }: RunBatch): boolean {
    this.addBatch(run_id, fence, reserve_until, encodeBatch(events), checked)
    return true
  }

  addBatch(
    runId: string,
    fence: number,
    reserveUntil: number,
    batch: StoredBatch | undefined,
    checked?: boolean,
  ): void {
    const [first, ...rest] = batch?.parts ?? []
    this.rows.batches.push([
      runId,
      fence,
      first?.firstSeq ?? null,
      batch?.lastSeq ?? null,
      reserveUntil,
      first?.text ?? null,
      checked === true ? 1 : 0,
    ])
    for (const { firstSeq, text } of rest) this.rows.parts.push([runId, firstSeq, text])
  }

  #addEnd(end: RunEnd): boolean {
    if (end.bringsBack === true) return false
    const sessionId = this.#known.sessionOf(end.run_id)
    if (sessionId === undefined) return false
    this.addEnd(end, sessionId, encodeBatch(end.events))
    return true
  }

  /** `sessionId`: null for a try. */
  addEnd(end: RunEnd, sessionId: string | null, batch: StoredBatch | undefined): void {
    this.rows.ends.push([
      end.run_id,
      end.fence,
      end.status,
      endedOf(end),
      this.#outputOf(end),
      batch?.firstSeq ?? null,
      batch?.lastSeq ?? null,
      this.#lastPart(end.run_id, batch),
      end.checked === true ? 1 : 0,
    ])
    if (sessionId !== null) this.#touchEnd(sessionId, end)
    this.#addUsage(end)
  }

  #messagesOf(messages: readonly Message[], unchecked = false): string {
    return this.#made?.get(messages) ?? messagesOf(messages, unchecked)
  }

  #outputOf({ messages }: RunEnd): string | null {
    return messages.length === 0 ? null : this.#messagesOf(messages)
  }

  /** The part that is stored in the run's own row; earlier parts get rows of their own. */
  #lastPart(runId: string, batch: StoredBatch | undefined): string | null {
    if (batch === undefined) return null
    for (const { firstSeq, text } of batch.parts.slice(0, -1)) this.rows.parts.push([runId, firstSeq, text])
    return batch.parts.at(-1)?.text ?? null
  }

  /** All rows, including those of the sessions. */
  finish(): BatchRows {
    for (const [sessionId, { seed, updatedAt, revisions, runs, state }] of this.#touched) {
      if (seed === undefined) {
        this.rows.touches.push([sessionId, updatedAt, revisions, runs, state === undefined ? 0 : 1, toJson(state)])
        continue
      }
      this.created.add(sessionId)
      const { agent_id, team_id, workflow_id, user_id, name, metadata, created_at } = seed
      this.rows.sessions.push([
        sessionId,
        agent_id,
        team_id,
        workflow_id,
        user_id,
        name,
        toJson(metadata),
        toJson(state),
        created_at,
        updatedAt,
        revisions + 1,
        runs,
      ])
    }
    return this.rows
  }

  #touch(sessionId: string, at: string, seed?: SessionSeed): Touched {
    let touched = this.#touched.get(sessionId)
    if (touched === undefined) {
      touched = { sessionId, seed, updatedAt: at, revisions: 0, runs: 0, state: seed?.state, changedBy: undefined }
      this.#touched.set(sessionId, touched)
    }
    touched.updatedAt = at
    touched.revisions += 1
    return touched
  }

  #touchEnd(sessionId: string, end: RunEnd): void {
    const touched = this.#touch(sessionId, end.completed_at)
    if (end.state !== undefined) this.#setState(touched, end.run_id, end.state)
  }

  #addUsage(end: RunEnd): void {
    if (end.usage === null && end.usage_by_model === undefined) return
    for (const used of usageOf(end)) this.rows.usage.push(usageRow(end.run_id, used))
  }

  #setState(touched: Touched, runId: string, state: JsonObject | null): void {
    const { sessionId, changedBy } = touched
    if (changedBy === undefined || !changedBy.has(runId)) {
      const isKnown = touched.state !== undefined
      this.rows.changes.push([runId, sessionId, isKnown ? 1 : 0, isKnown ? toJson(touched.state) : null])
      touched.changedBy = (changedBy ?? new Set()).add(runId)
    }
    touched.state = state
  }
}

import { endEvent, type RunEvent, startEvent } from '../../core/event.ts'
import type { Page, PageRequest } from '../../core/page.ts'
import { isEnded, type Run, type RunHead, type RunRecord } from '../../core/run.ts'
import type { Session, SessionRecord } from '../../core/session.ts'
import type { ClaimRecord, History, PruneRule, RunFilter, SessionListFilter } from '../../core/store.ts'
import type { Summary } from '../../core/summary.ts'
import { readAnswer } from './answers.ts'
import { readClaim } from './claims.ts'
import type { Connection, SqlRow, SqlValue } from './connection.ts'
import { decodeBatch } from './event-batch.ts'
import { GroupedReads } from './grouped-reads.ts'
import { runPage, sessionPage } from './pages.ts'
import { countSessions } from './prune.ts'
import {
  oldestFirst,
  type RecordRow,
  type SessionTexts,
  summaryColumns,
  toRunRecord,
  toSessionRecord,
  toSummary,
} from './rows.ts'
import {
  selectEvents,
  selectHistories,
  selectHistoryBefore,
  selectRecords,
  selectRunHeads,
  selectRuns,
  selectSessions,
} from './selects.ts'

/** A batch is some kilobytes, or one large event. */
const batchesAtOnce = 4

/** Everything that is only read, over connections that can't write. */
export class Reads {
  readonly #readers: readonly Connection[]
  readonly #runs: GroupedReads
  readonly #runHeads: GroupedReads
  /** By limit: a statement has one for all. */
  readonly #histories = new Map<number, GroupedReads>()
  readonly #sessions: GroupedReads
  #turn = 0

  constructor(readers: readonly Connection[]) {
    this.#readers = readers
    this.#runs = new GroupedReads((requests) => this.#all(selectRuns, [requests]))
    this.#runHeads = new GroupedReads((requests) => this.#all(selectRunHeads, [requests]))
    this.#sessions = new GroupedReads((requests) => this.#all(selectSessions, [requests]))
  }

  async findSession(sessionId: string): Promise<SessionRecord | undefined> {
    const [row] = await this.#sessions.read(sessionId)
    return row && toSessionRecord(row as unknown as SessionTexts)
  }

  async findRun(runId: string): Promise<RunRecord | undefined> {
    const [row] = await this.#runs.read(runId)
    return row && toRunRecord(JSON.parse(row.record_row as string))
  }

  async findRunHead(runId: string): Promise<RunHead | undefined> {
    const [row] = await this.#runHeads.read(runId)
    return row && toRunRecord(JSON.parse(row.record_row as string))
  }

  async readHistory(sessionId: string, limit: number, before?: string): Promise<History> {
    if (before !== undefined) {
      const [row] = await this.#all(selectHistoryBefore, [sessionId, limit + 1, before])
      return toHistory(row, limit)
    }
    let histories = this.#histories.get(limit)
    if (histories === undefined) {
      histories = new GroupedReads((requests) => this.#all(selectHistories, [limit + 1, requests]))
      this.#histories.set(limit, histories)
    }
    const [row] = await histories.read(sessionId)
    return toHistory(row, limit)
  }

  /** The run is read before its events, so that an end is never seen without what came before it. */
  async readEvents(runId: string, after: number, limit: number): Promise<RunEvent[]> {
    const run = await this.findRunHead(runId)
    if (run === undefined || limit <= 0) return []
    const events: RunEvent[] = after < 1 ? [startEvent(run)] : []
    let next = Math.max(after, 1)
    while (events.length < limit) {
      const rows = await this.#all(selectEvents, [runId, next + 1, batchesAtOnce])
      const stored = rows.flatMap((row) => decodeBatch(runId, row.batch as string))
      events.push(...stored.filter((event) => event.seq > next))
      next = Math.max(next, stored.at(-1)?.seq ?? next)
      if (rows.length < batchesAtOnce) break
    }
    if (isEnded(run.status) && run.end_seq !== null && run.end_seq > after) events.push(endEvent(run, run.end_seq))
    return events.slice(0, limit)
  }

  async readRecords(sessionId: string, after: string | undefined, limit: number): Promise<RunRecord[]> {
    const rows = await this.#all(selectRecords, [sessionId, after ?? null, limit])
    return rows.map((row) => toRunRecord(JSON.parse(row.record_row as string)))
  }

  listSessions(filter: SessionListFilter, page: PageRequest): Promise<Page<Session>> {
    return sessionPage((sql, params) => this.#all(sql, params), filter, page)
  }

  listRuns(filter: RunFilter, page: PageRequest): Promise<Page<Run>> {
    return runPage((sql, params) => this.#all(sql, params), filter, page)
  }

  async findSummary(sessionId: string): Promise<Summary | undefined> {
    const sql = `SELECT json_array(${summaryColumns.join(', ')}) AS summary_row FROM summaries WHERE summary_session_id = ?`
    const [row] = await this.#all(sql, [sessionId])
    return row && toSummary(JSON.parse(row.summary_row as string) as SqlValue[])
  }

  async listSummaryJobs(): Promise<string[]> {
    const rows = await this.#all('SELECT job_session_id FROM summary_jobs ORDER BY scheduled_at, job_session_id')
    return rows.map((row) => row.job_session_id as string)
  }

  findCached(key: string, now: string): Promise<RunRecord | undefined> {
    return readAnswer((sql, params) => this.#all(sql, params), key, now)
  }

  /** Whether there is any use in asking the writer. */
  async mayPrune({ olderThan, maxSessions }: PruneRule): Promise<boolean> {
    if (olderThan !== undefined) {
      const [row] = await this.#all('SELECT min(updated_at) AS oldest FROM sessions')
      if (typeof row?.oldest === 'string' && row.oldest < olderThan) return true
    }
    return maxSessions !== undefined && (await countSessions(this.#reader())) > maxSessions
  }

  findClaim(key: string, now: string): Promise<ClaimRecord | undefined> {
    return readClaim(this.#reader(), key, now)
  }

  #all(sql: string, params: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#reader().all(sql, params)
  }

  #reader(): Connection {
    this.#turn = (this.#turn + 1) % this.#readers.length
    return this.#readers[this.#turn] as Connection
  }
}

/** A row holds one turn more than the limit when there are more. */
function toHistory(row: SqlRow | undefined, limit: number): History {
  const turns = oldestFirst(JSON.parse(row?.record_rows as string) as RecordRow[])
  return { runs: turns.slice(-limit).map(toRunRecord), has_more: turns.length > limit }
}

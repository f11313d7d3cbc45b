import { endEvent, type RunEvent, startEvent } from '../../../core/event.ts'
import type { StoredFile } from '../../../core/file.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Page, PageRequest } from '../../../core/page.ts'
import { isEnded, type Run, type RunHead, type RunRecord } from '../../../core/run.ts'
import type { ClaimRecord } from '../../../core/run-write.ts'
import type { Handover, Session, SessionOverview, SessionRecord } from '../../../core/session.ts'
import type { History, HistoryView, PruneRule, RunFilter, SessionListFilter } from '../../../core/store.ts'
import type { Summary } from '../../../core/summary.ts'
import { eventPageCharacters } from '../../rules/page-size.ts'
import type { Connection, SqlRow, SqlValue } from '../../sqlite/connection.ts'
import { BatchedReads } from '../rows/batched-reads.ts'
import { readBatches, readBatchesWith } from '../rows/batches.ts'
import { requestsAtOnce, rowBytes, takeStep, usualReadBytes } from '../rows/budget.ts'
import { batchesFor, readEventPage } from '../rows/event-page.ts'
import { oldestFirst, type RecordRow, toRunRecord } from '../rows/rows.ts'
import { readAnswer } from './answers.ts'
import * as files from './files/read.ts'
import { countSessions } from './prune.ts'
import { batchSource } from './reading/events.ts'
import { findHandover, isBefore, listHandovers } from './reading/handovers.ts'
import { countSessions as countListed, listKeys } from './reading/keys.ts'
import { runPage } from './reading/lists.ts'
import { readOverviews, selectOverviews, toOverview } from './reading/overviews.ts'
import {
  selectAllTurns,
  selectAllTurnsBefore,
  selectHistories,
  selectRunHeads,
  selectRuns,
  selectSizes,
  selectTurnsBefore,
  selectTurnsUpTo,
} from './reading/queries.ts'
import { isLargeRow, type LargeRow, readNumbered, readRecord, readTurns, toCopied } from './reading/records.ts'
import { readSessions, sessionPage, toFoundSession } from './reading/sessions.ts'
import { findStateAfter, findStateBefore } from './reading/turn-tree.ts'
import type { HiddenSessions } from './schema/hidden.ts'
import { findSummary, listSummaryJobs } from './summaries.ts'
import { hasDueTries } from './tries.ts'
import { readClaim } from './writing/claims.ts'

/** All reads, on connections that can't write. Each returns at most `maxBytes`, or one row. */
export class Reads {
  readonly #readers: readonly Connection[]
  readonly #hidden: HiddenSessions
  readonly #maxBytes: number
  readonly #runs: BatchedReads<SqlRow>
  readonly #runHeads: BatchedReads<SqlRow>
  /** By limit, because each limit has its own statement. */
  readonly #histories = new Map<number, BatchedReads<SqlRow>>()
  readonly #sessions: BatchedReads<SqlRow>
  readonly #overviews: BatchedReads<SqlRow>
  #turn = 0

  constructor(readers: readonly Connection[], hidden: HiddenSessions, maxBytes = usualReadBytes) {
    this.#readers = readers
    this.#hidden = hidden
    this.#maxBytes = maxBytes
    this.#runs = new BatchedReads((requests) =>
      this.#all(selectRuns, [rowBytes(maxBytes, requests.length, 1), JSON.stringify(requests)]),
    )
    this.#runHeads = new BatchedReads((requests) => this.#all(selectRunHeads, [JSON.stringify(requests)]))
    this.#overviews = new BatchedReads((requests) => this.#all(selectOverviews, [JSON.stringify(requests)]))
    this.#sessions = new BatchedReads((requests) => readSessions(this.#all, requests, maxBytes))
  }

  async findSession(sessionId: string): Promise<SessionRecord | undefined> {
    const [row] = await this.#sessions.read(sessionId)
    return row && toFoundSession(this.#all, row)
  }

  async findRun(runId: string): Promise<RunRecord | undefined> {
    const before = this.#hidden.ids
    const [row] = await this.#runs.read(runId)
    if (row === undefined) return undefined
    const record = JSON.parse(row.record_row as string) as RecordRow | LargeRow
    return this.#shown(isLargeRow(record) ? await readRecord(this.#all, runId) : toRunRecord(record), before)
  }

  async findRunHead(runId: string): Promise<RunHead | undefined> {
    const before = this.#hidden.ids
    const [row] = await this.#runHeads.read(runId)
    return this.#shown(row && toRunRecord(JSON.parse(row.record_row as string)), before)
  }

  /** `before`: the sessions that were hidden when the read began. */
  #shown(run: RunRecord | undefined, before: ReadonlySet<string>): RunRecord | undefined {
    if (run === undefined) return undefined
    return before.has(run.session_id) || this.#hidden.has(run.session_id) ? undefined : run
  }

  async readHistory(sessionId: string, limit: number, view: HistoryView = {}): Promise<History> {
    if (this.#hidden.has(sessionId)) return { runs: [], has_more: false }
    const { before, upTo, replaced } = view
    const one = (select: string, ...run: string[]) =>
      this.#all(select, [rowBytes(this.#maxBytes, 1, limit + 1), sessionId, limit + 1, ...run])
    const [row] = await (replaced === true
      ? before === undefined
        ? one(selectAllTurns)
        : one(selectAllTurnsBefore, before)
      : before !== undefined
        ? one(selectTurnsBefore, before)
        : upTo !== undefined
          ? one(selectTurnsUpTo, upTo)
          : this.#historiesOf(limit).read(sessionId))
    return readTurns(this.#all, row?.record_rows as string, limit, this.#maxBytes)
  }

  #historiesOf(limit: number): BatchedReads<SqlRow> {
    let histories = this.#histories.get(limit)
    if (histories === undefined) {
      const rows = limit + 1
      histories = new BatchedReads(
        (requests) =>
          this.#all(selectHistories, [rowBytes(this.#maxBytes, requests.length, rows), rows, JSON.stringify(requests)]),
        requestsAtOnce(rows),
      )
      this.#histories.set(limit, histories)
    }
    return histories
  }

  /** Reads the run before its events, so that its end never shows without the events before it. */
  async readEvents(
    runId: string,
    after: number,
    limit: number,
    types?: readonly RunEvent['type'][],
  ): Promise<RunEvent[]> {
    const run = await this.findRunHead(runId)
    if (run === undefined || limit <= 0) return []
    const most = Math.min(eventPageCharacters, this.#maxBytes)
    const from = Math.max(after, 1)
    const source = batchSource(this.#all, runId)
    const batches = types ? readBatchesWith(source, from, types) : readBatches(source, from, batchesFor(limit))
    const { events, isLast } = await readEventPage(batches, limit, most)
    if (after < 1) events.unshift(startEvent(run))
    if (isLast && isEnded(run.status) && run.end_seq !== null && run.end_seq > after)
      events.push(endEvent(run, run.end_seq))
    return events.slice(0, limit)
  }

  async readRecords(sessionId: string, after: string | undefined, limit: number): Promise<RunRecord[]> {
    if (this.#hidden.has(sessionId)) return []
    const rows = await this.#all(selectSizes, [sessionId, after ?? null, limit])
    const looks = rows.map((row) => ({ runNumber: row.run_number as number, bytes: row.bytes as number }))
    const records: [runNumber: number, RunRecord][] = []
    for await (const one of readNumbered(this.#all, takeStep(looks, this.#maxBytes), undefined, toCopied))
      records.push(one)
    return oldestFirst(records).map(([, record]) => record)
  }

  listSessions(filter: SessionListFilter, page: PageRequest): Promise<Page<Session>> {
    return sessionPage(this.#all, filter, page, this.#maxBytes)
  }

  async listOverviews(filter: SessionListFilter, page: PageRequest): Promise<Page<SessionOverview>> {
    const { keys, next } = await listKeys(this.#all, filter, page)
    const ids = keys.map(({ id }) => id)
    return { items: await readOverviews(this.#all, ids, filter.as_user === true ? filter.user_id : undefined), next }
  }

  async findOverview(sessionId: string, userId?: string): Promise<SessionOverview | undefined> {
    if (userId !== undefined) return (await readOverviews(this.#all, [sessionId], userId))[0]
    const [row] = await this.#overviews.read(sessionId)
    return row && toOverview(row)
  }

  countSessions(filter: SessionListFilter): Promise<number> {
    return countListed(this.#all, filter)
  }

  listRuns(filter: RunFilter, page: PageRequest): Promise<Page<Run>> {
    return runPage(this.#all, filter, page, this.#hidden.size > 0)
  }

  findHandover(sessionId: string, userId: string, newestRuns: number): Promise<Handover | undefined> {
    return findHandover(this.#all, sessionId, userId, newestRuns)
  }

  listHandovers(sessionId: string): Promise<Record<string, string | null>> {
    return listHandovers(this.#all, sessionId)
  }

  isBefore(runId: string, otherId: string): Promise<boolean> {
    return isBefore(this.#all, runId, otherId)
  }

  async findStateBefore(runId: string): Promise<JsonObject | null | undefined> {
    const run = await this.findRunHead(runId)
    return run && this.#ofShown(run.session_id, findStateBefore(this.#all, run))
  }

  async findStateAfter(runId: string): Promise<JsonObject | null | undefined> {
    const run = await this.findRunHead(runId)
    return run && this.#ofShown(run.session_id, findStateAfter(this.#all, run))
  }

  findFile(sessionId: string, fileId: string): Promise<StoredFile | undefined> {
    return this.#ofShown(sessionId, files.findFile(this.#all, sessionId, fileId))
  }

  findFetched(sessionId: string, url: string): Promise<StoredFile | undefined> {
    return this.#ofShown(sessionId, files.findFetched(this.#all, sessionId, url))
  }

  readFilePiece(sessionId: string, fileId: string, piece: number): Promise<Uint8Array | undefined> {
    return this.#ofShown(sessionId, files.readFilePiece(this.#all, sessionId, fileId, piece))
  }

  async listFiles(runId: string): Promise<StoredFile[]> {
    const before = this.#hidden.ids
    const found = await files.listFiles(this.#all, runId)
    return found.filter(({ session_id }) => !before.has(session_id) && !this.#hidden.has(session_id))
  }

  async #ofShown<T>(sessionId: string, read: Promise<T | undefined>): Promise<T | undefined> {
    const before = this.#hidden.ids
    const found = await read
    return before.has(sessionId) || this.#hidden.has(sessionId) ? undefined : found
  }

  findSummary(sessionId: string): Promise<Summary | undefined> {
    return findSummary(this.#reader(), sessionId)
  }

  listSummaryJobs(): Promise<string[]> {
    return listSummaryJobs(this.#reader())
  }

  async findCached(key: string, now: string): Promise<RunRecord | undefined> {
    const before = this.#hidden.ids
    return this.#shown(await readAnswer(this.#all, key, now), before)
  }

  /** False when there is certainly nothing to prune, so that the writer need not be asked. */
  async mayPrune({ olderThan, maxSessions }: PruneRule): Promise<boolean> {
    if (olderThan !== undefined) {
      const [row] = await this.#all('SELECT min(updated_at) AS oldest FROM sessions')
      if (typeof row?.oldest === 'string' && row.oldest < olderThan) return true
    }
    return maxSessions !== undefined && (await countSessions(this.#reader())) > maxSessions
  }

  hasDueTries(before: string): Promise<boolean> {
    return hasDueTries(this.#reader(), before)
  }

  findClaim(key: string, now: string): Promise<ClaimRecord | undefined> {
    return readClaim(this.#reader(), key, now)
  }

  /** For a small read of its own. */
  on<T>(read: (connection: Connection) => Promise<T>): Promise<T> {
    return read(this.#reader())
  }

  readonly #all = (sql: string, params: readonly SqlValue[] = []): Promise<SqlRow[]> => this.#reader().all(sql, params)

  #reader(): Connection {
    this.#turn = (this.#turn + 1) % this.#readers.length
    return this.#readers[this.#turn] as Connection
  }
}

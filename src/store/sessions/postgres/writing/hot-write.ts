import { isTurn } from '../../../../core/run.ts'
import type { RunEnd, RunStart } from '../../../../core/run-write.ts'
import { stringifyLarge } from '../../../../runtime/json.ts'
import type { Sql } from '../../../postgres/connection.ts'
import type { RunWrite } from '../../../rules/run-writes.ts'
import { usageOf } from '../../../rules/session-usage.ts'
import { usageRow } from '../../../rules/usage-rows.ts'
import { encodeBatch, type StoredBatch, type StoredPart } from '../../rows/event-batch.ts'
import { type Document, documentsOf, has, hotStatement } from './hot-statement.ts'
import {
  appendRow,
  type Decided,
  endRow,
  type MadeTexts,
  type SessionRow,
  sessionRow,
  startRow,
  usageObject,
} from './rows.ts'

/** What the statement says of the rows that it wrote. */
export interface HotAnswer {
  /** The status of each run that was started. */
  starts: ReadonlyMap<string, 'running' | 'queued'>
  sessions: ReadonlyMap<string, { revision: number; isNew: boolean; birth: number }>
  appends: ReadonlySet<string>
  ends: ReadonlySet<string>
  /** The runs that may be next, with the keys of their owners. */
  turns: readonly [runId: string, owner: number][]
}

/** A write, or a run's start with its own end. */
export interface HotItem {
  write: Exclude<RunWrite, { kind: 'begin' }>
  end?: RunEnd | undefined
}

/** The documents of one statement. */
export class HotWrite {
  /** JSON texts of rows; rows of a large write, of which a text is made in pieces. */
  readonly #rows: Record<Exclude<Document, 'sessions'>, unknown[]> = {
    starts: [],
    appends: [],
    ends: [],
    usage: [],
    parts: [],
  }
  readonly #sessions = new Map<string, SessionRow>()
  /** How many starts of a session may wait. */
  readonly #queues = new Map<string, number>()
  readonly #isLarge: boolean
  #mask = 0

  constructor(isLarge = false) {
    this.#isLarge = isLarge
  }

  /** Throws for what is not JSON; then nothing was added. */
  add({ write, end }: HotItem): void {
    switch (write.kind) {
      case 'start':
        this.addStart(write.start, end, end && encodeBatch(end.events))
        break
      case 'append':
        this.addBatch(write.batch, encodeBatch(write.batch.events))
        break
      case 'finish':
        this.addEnd(write.end, encodeBatch(write.end.events))
    }
  }

  addStart(
    start: RunStart,
    end: RunEnd | undefined,
    batch: StoredBatch | undefined,
    made?: MadeTexts,
    decided?: Decided,
  ): void {
    const { run_id: runId, session_id: sessionId } = start.run
    const mayWait = decided === undefined && start.whenBusy === 'queue' && isTurn(start.run)
    const turn = mayWait ? (this.#queues.get(sessionId) ?? 0) : undefined
    const row = this.#kept(startRow(start, end, batch, this.#rows.starts.length, turn, made, decided))
    const session = sessionRow(start, end, decided)
    const usage = end && this.#usageOf(end)
    this.#rows.starts.push(row)
    this.#mask |= has.starts
    if (start.claim !== null) this.#mask |= has.claims
    if (turn !== undefined) this.#queues.set(sessionId, turn + 1)
    if (session !== undefined) this.#touch(session)
    if (usage !== undefined) this.#add('usage', usage)
    if (batch !== undefined) this.#addParts(runId, batch.parts.slice(0, -1))
  }

  addBatch(append: Parameters<typeof appendRow>[0], batch: StoredBatch | undefined): void {
    this.#add('appends', [this.#kept(appendRow(append, batch))])
    if (batch !== undefined) this.#addParts(append.run_id, batch.parts.slice(1))
  }

  addEnd(end: RunEnd, batch: StoredBatch | undefined, made?: MadeTexts): void {
    const row = this.#kept(endRow(end, batch, this.#rows.ends.length, made))
    this.#add('usage', this.#usageOf(end))
    this.#add('ends', [row])
    if (batch !== undefined) this.#addParts(end.run_id, batch.parts.slice(0, -1))
  }

  /** `owner`: the key of the process whose starts these are. `turns`: also asks which runs may be next. */
  async write(sql: Pick<Sql, 'all'>, owner: number, turns: boolean): Promise<HotAnswer> {
    const mask = this.#mask | (turns && this.#mask & (has.starts | has.ends) ? has.turns : 0)
    const params: string[] = []
    for (const name of documentsOf(mask)) params.push(await this.#textOf(name))
    const [row] = await sql.all<Record<string, string | null>>(hotStatement(mask), [owner, ...params])
    return toAnswer(row ?? {})
  }

  #textOf(name: Document): string | Promise<string> {
    const rows = name === 'sessions' ? [...this.#sessions.values()].map((row) => this.#kept(row)) : this.#rows[name]
    return this.#isLarge ? stringifyLarge(rows) : `[${rows.join(',')}]`
  }

  #kept(row: object): unknown {
    return this.#isLarge ? row : JSON.stringify(row)
  }

  #add(name: 'appends' | 'ends' | 'usage' | 'parts', rows: readonly unknown[]): void {
    if (rows.length === 0) return
    this.#rows[name].push(...rows)
    this.#mask |= has[name]
  }

  /** The first start says how the session is made, the last one its state. */
  #touch(row: SessionRow): void {
    const first = this.#sessions.get(row.i)
    if (first === undefined) this.#sessions.set(row.i, row)
    else {
      if (row.at > first.at) first.at = row.at
      first.st = row.st ?? first.st
    }
  }

  #usageOf(end: RunEnd): unknown[] {
    if (end.usage === null && end.usage_by_model === undefined) return []
    return usageOf(end).map((used) => this.#kept(usageObject(usageRow(end.run_id, used))))
  }

  /** The run or batch itself has the first or the last part. */
  #addParts(runId: string, parts: readonly StoredPart[]): void {
    const rows = parts.map(({ firstSeq, text }) => this.#kept({ i: runId, q: firstSeq, t: text }))
    this.#add('parts', rows)
  }
}

function toAnswer(row: Record<string, string | null>): HotAnswer {
  const listOf = <T>(text: string | null | undefined): T[] => (typeof text === 'string' ? JSON.parse(text) : [])
  const sessions = listOf<[string, number, boolean, number]>(row.s)
  return {
    starts: new Map(listOf<[string, 'running' | 'queued']>(row.r)),
    sessions: new Map(sessions.map(([id, revision, isNew, birth]) => [id, { revision, isNew, birth }])),
    appends: new Set(listOf<string>(row.a)),
    ends: new Set(listOf<string>(row.e)),
    turns: listOf<[string, number]>(row.w),
  }
}

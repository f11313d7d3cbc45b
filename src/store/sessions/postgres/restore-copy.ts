import { AppError } from '../../../core/error.ts'
import { isTurn } from '../../../core/run.ts'
import type { CopiedFile, RunPiece, SessionCopy, SessionHead, SessionRecord } from '../../../core/session.ts'
import { Pace } from '../../../runtime/yield.ts'
import type { Sql } from '../../postgres/connection.ts'
import { toStoreError } from '../../postgres/failure.ts'
import { tryLock } from '../../postgres/locks.ts'
import { usageOf } from '../../rules/session-usage.ts'
import { UsageSums } from '../../rules/usage-rows.ts'
import { encodeLargeBatch } from '../rows/event-batch.ts'
import { finishCopy } from './copies.ts'
import { type CopiedRun, copiedRun, insertRuns, valuesOf } from './copy-rows.ts'
import type { Database } from './database.ts'
import { takeTry } from './deletion.ts'
import { deleteFiles, hasNoRun } from './files/delete.ts'
import { deleteContents } from './files/files.ts'
import { saveFile } from './files/save.ts'

/** Size of one statement, unless a single row is larger. */
const stepCharacters = 1024 * 1024
/** How long the caller may take for the next piece of a copy. */
const slowestPiece = '15min'

/**
 * Restores a copy in one transaction, on a connection of its own: the caller may be slow. It holds no lock that others wait
 * for until its end. The files are written before, each by itself: without their runs they do not exist for readers.
 */
export async function restoreCopy(
  database: Database,
  copy: SessionCopy,
  head: () => SessionHead,
  instead: string | undefined,
): Promise<SessionRecord> {
  const { pools } = database
  const id = copy.session.session_id
  const files = new CopiedFiles(database, id)
  const broken: { error?: unknown } = {}
  try {
    const connection = await pools.connect('restore', { statementMs: 120_000 })
    try {
      return await pools.once(connection, async (sql) => {
        await sql.run(`SET LOCAL idle_in_transaction_session_timeout = '${slowestPiece}'`)
        await assertFree(sql, id)
        const counted = await writeRuns(sql, watched(copy.runs, broken), files)
        // It is locked, and its contents are unused, as shortly as may be.
        const state = instead === undefined ? null : await takeTry(sql, instead)
        const { session, ...rest } = head()
        const last = { ...rest, session: state === null ? session : { ...session, state: JSON.parse(state) } }
        const record = await finishCopy(sql, last, counted)
        await files.settle(sql)
        return record
      })
    } finally {
      await connection.close()
    }
  } catch (error) {
    await files.drop()
    throw 'error' in broken ? broken.error : toStoreError(error)
  }
}

/** Throws `conflict` when the id is taken, also by another copy. */
async function assertFree(sql: Sql, sessionId: string): Promise<void> {
  const isAlone = await tryLock(sql, 'copy', sessionId)
  const taken = await sql.run('SELECT 1 FROM session WHERE session_id = $1', [sessionId])
  if (!isAlone || taken > 0) throw new AppError('conflict', `Session '${sessionId}' already exists.`)
}

/** Tells errors of the copy from those of the database. */
async function* watched(pieces: AsyncIterable<RunPiece>, broken: { error?: unknown }): AsyncGenerator<RunPiece> {
  try {
    yield* pieces
  } catch (error) {
    broken.error = error
    throw error
  }
}

async function writeRuns(sql: Sql, pieces: AsyncIterable<RunPiece>, files: CopiedFiles) {
  const pace = new Pace()
  const counted = { turns: 0, usage: new UsageSums() }
  const step = new Step()
  for await (const piece of pieces) {
    if ('run' in piece) {
      step.addRun(await copiedRun(piece.run))
      if (isTurn(piece.run)) {
        counted.turns++
        counted.usage.add(usageOf(piece.run))
      }
    } else if ('file' in piece) {
      await files.save(piece.file, piece.run_id)
    } else {
      const batch = await encodeLargeBatch(piece.events)
      for (const { firstSeq, text } of batch?.parts ?? []) step.addEvents(piece.run_id, firstSeq, text)
    }
    await pace.step()
    if (step.characters >= stepCharacters) await step.write(sql)
  }
  await step.write(sql)
  return counted
}

/** Rows that are written together. */
class Step {
  characters = 0
  #runs: CopiedRun[] = []
  #events: [runId: string, firstSeq: number, batch: string][] = []
  readonly #numbers = new Map<string, number>()

  addRun(run: CopiedRun): void {
    this.#runs.push(run)
    for (const value of Object.values(run)) if (typeof value === 'string') this.characters += value.length
  }

  addEvents(runId: string, firstSeq: number, batch: string): void {
    this.#events.push([runId, firstSeq, batch])
    this.characters += batch.length
  }

  async write(sql: Sql): Promise<void> {
    const [runs, events] = [this.#runs, this.#events]
    this.#runs = []
    this.#events = []
    this.characters = 0
    if (runs.length > 0) {
      const rows = await sql.all<{ run_id: string; run_number: number }>(insertRuns, valuesOf(runs))
      for (const { run_id, run_number } of rows) this.#numbers.set(run_id, run_number)
      if (rows.length < runs.length) throw takenRun(runs, rows)
    }
    const rows = events.flatMap(([runId, ...row]) => {
      const number = this.#numbers.get(runId)
      return number === undefined ? [] : [[number, ...row] as const]
    })
    if (rows.length === 0) return
    await sql.run(
      'INSERT INTO event (run_number, first_seq, batch) SELECT * FROM unnest($1::bigint[], $2::int[], $3::text[])',
      [0, 1, 2].map((column) => rows.map((row) => row[column])),
    )
  }
}

function takenRun(runs: readonly CopiedRun[], made: readonly { run_id: string }[]): AppError {
  const ids = new Set<unknown>(made.map(({ run_id }) => run_id))
  const taken = runs.find(({ run_id }) => !ids.delete(run_id))
  return new AppError('conflict', `Run '${taken?.run_id}' already exists.`)
}

/** The files of a copy, which belong to this process until their runs are there. */
class CopiedFiles {
  readonly #database: Database
  readonly #sessionId: string
  readonly #ids: string[] = []

  constructor(database: Database, sessionId: string) {
    this.#database = database
    this.#sessionId = sessionId
  }

  async save({ file_id, ...file }: CopiedFile, runId: string): Promise<void> {
    const { work, owners } = this.#database
    await saveFile(work, { ...file, session_id: this.#sessionId, run_id: runId }, owners.atWork, file_id)
    this.#ids.push(file_id)
  }

  /** Throws `unavailable` when others took this process for dead and deleted them. */
  async settle(sql: Sql): Promise<void> {
    if (this.#ids.length === 0) return
    const settled = await sql.run('UPDATE file SET owner = NULL WHERE session_id = $1 AND file_id = ANY($2::text[])', [
      this.#sessionId,
      this.#ids,
    ])
    if (settled < this.#ids.length) throw new AppError('unavailable', 'Files of the copy were lost. Restore it again.')
  }

  /** Nobody sees those that it can't delete now; they are deleted when this process has ended. */
  async drop(): Promise<void> {
    if (this.#ids.length === 0) return
    const condition = `session_id = $1 AND file_id = ANY($2::text[]) AND ${hasNoRun}`
    try {
      await this.#database.work((sql) => deleteFiles(sql, condition, [this.#sessionId, this.#ids]))
      await deleteContents(this.#database)
    } catch (error) {
      this.#database.logger.warn({ error }, 'files of a copy that failed remain until this process has ended')
    }
  }
}

import { open, rm } from 'node:fs/promises'
import { AppError } from '../../../../core/error.ts'
import { applicationIds, newFile } from '../../../sqlite/application.ts'
import { Connection, type SqlValue } from '../../../sqlite/connection.ts'
import { classify } from '../../../sqlite/failure.ts'
import { inTransaction } from '../../../sqlite/transaction.ts'
import { mergeStep } from '../../../upkeep/index-merge.ts'
import { giveBack } from '../../../upkeep/shrinking.ts'

/**
 * The word index of all messages, in a file beside the database. It can be deleted at any time and is rebuilt from the
 * database; every match is looked up there. It holds no texts, only which words are in which run.
 */

const version = 1
const busyTimeoutMs = 5_000

// Words come normalised and separated by spaces, and a session's id after a colon: `ascii` cuts only there.
const schema = `BEGIN;
  CREATE VIRTUAL TABLE words USING fts5(body, content='', contentless_delete=1, detail=none,
    tokenize="ascii tokenchars '_:.-'");
  CREATE TABLE marks (mark_number INTEGER PRIMARY KEY, mark_run_id TEXT NOT NULL);
  CREATE TABLE open_runs (open_number INTEGER PRIMARY KEY, look TEXT NOT NULL);
  CREATE TABLE closings (clean INTEGER NOT NULL);
  INSERT INTO closings VALUES (1);
  PRAGMA application_id = ${applicationIds.search};
  PRAGMA user_version = ${version};
  COMMIT;`

/** Also for a file of an earlier version. */
const addPurges = 'CREATE TABLE IF NOT EXISTS purges (purge_step INTEGER NOT NULL)'
const purgeSteps = { begin: 0, goOn: 1 }

/** The last run of an indexing step; shows whether run numbers have been reused since. */
export interface Mark {
  number: number
  runId: string
}

/** A run as it was indexed; `look` changes with its content, and is null when the content is final. */
export interface IndexedRun {
  number: number
  look: string | null
  /** Undefined: it is in no conversation. */
  body: string | undefined
}

export class SearchFile {
  readonly #connection: Connection
  /** Whether the last process may have left deleted data in the index. */
  readonly wasLeft: boolean

  private constructor(connection: Connection, wasLeft: boolean) {
    this.#connection = connection
    this.wasLeft = wasLeft
  }

  /** Rebuilds a file that is missing, damaged, or of another version. */
  static async open(path: string): Promise<SearchFile> {
    const present = await openVersion(path).catch(() => undefined)
    const connection = present ?? (await create(path))
    await connection.exec(addPurges)
    const [row] = await connection.all('SELECT clean FROM closings')
    await connection.run('UPDATE closings SET clean = 0')
    return new SearchFile(connection, row?.clean !== 1)
  }

  /** The newest runs that contain all terms, from a number down. */
  async find(match: string, from: number, limit: number): Promise<number[]> {
    const rows = await this.#connection.all(
      'SELECT rowid AS number FROM words WHERE words MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?',
      [match, from, limit],
    )
    return rows.map(({ number }) => number as number)
  }

  /** Newest first. */
  async marks(below: number, limit: number): Promise<Mark[]> {
    const rows = await this.#connection.all(
      'SELECT mark_number, mark_run_id FROM marks WHERE mark_number < ? ORDER BY mark_number DESC LIMIT ?',
      [below, limit],
    )
    return rows.map((row) => ({ number: row.mark_number as number, runId: row.mark_run_id as string }))
  }

  async openRuns(): Promise<Map<number, string>> {
    const rows = await this.#connection.all('SELECT open_number, look FROM open_runs')
    return new Map(rows.map((row) => [row.open_number as number, row.look as string]))
  }

  /** The indexed run numbers, ascending. */
  async numbers(after: number, limit: number): Promise<number[]> {
    const sql = 'SELECT id FROM words_docsize WHERE id > ? ORDER BY id LIMIT ?'
    return (await this.#connection.all(sql, [after, limit])).map(({ id }) => id as number)
  }

  /** Replaces what is indexed for these runs; `mark`: the last one of them. */
  async put(runs: readonly IndexedRun[], mark?: Mark): Promise<void> {
    const numbers = JSON.stringify(runs.map(({ number }) => number))
    const bodies = runs.flatMap(({ number, body }) => (body === undefined ? [] : [[number, body]]))
    const looks = runs.flatMap(({ number, look }) => (look === null ? [] : [[number, look]]))
    await inTransaction(this.#connection, async (connection) => {
      await this.#drop(numbers)
      const values = 'SELECT value ->> 0, value ->> 1 FROM json_each(?)'
      await connection.run(`INSERT INTO words (rowid, body) ${values}`, [JSON.stringify(bodies)])
      await connection.run(`INSERT INTO open_runs ${values}`, [JSON.stringify(looks)])
      if (mark) await connection.run('INSERT OR REPLACE INTO marks VALUES (?, ?)', [mark.number, mark.runId])
    })
  }

  async drop(numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return
    await inTransaction(this.#connection, async (connection) => {
      await this.#drop(JSON.stringify(numbers))
      await connection.run('INSERT INTO purges VALUES (?)', [purgeSteps.begin])
    })
  }

  async dropAbove(number: number): Promise<void> {
    await inTransaction(this.#connection, async (connection) => {
      await connection.run('DELETE FROM words WHERE rowid > ?', [number])
      await connection.run('DELETE FROM open_runs WHERE open_number > ?', [number])
      await connection.run('DELETE FROM marks WHERE mark_number > ?', [number])
      await connection.run('INSERT INTO purges VALUES (?)', [purgeSteps.begin])
    })
  }

  /** One step of removing the words of dropped runs; false when none are left. Survives a restart. */
  async purge(): Promise<boolean> {
    const connection = this.#connection
    const [row] = await connection.all('SELECT min(purge_step) AS step FROM purges')
    const step = row?.step
    if (step === null || step === undefined) {
      if ((await giveBack(connection)).left) return true
      await connection.all('PRAGMA wal_checkpoint(TRUNCATE)')
      return false
    }
    await inTransaction(connection, async () => {
      const more = await mergeStep(connection, 'words', step === purgeSteps.begin)
      await connection.run('DELETE FROM purges')
      if (more) await connection.run('INSERT INTO purges VALUES (?)', [purgeSteps.goOn])
    })
    return true
  }

  /** `isClean`: the index holds nothing that was deleted from the database. */
  async close(isClean: boolean): Promise<void> {
    if (isClean) await this.#connection.run('UPDATE closings SET clean = 1').catch(() => {})
    await this.#connection.close()
  }

  async #drop(numbers: SqlValue): Promise<void> {
    const among = 'IN (SELECT value FROM json_each(?))'
    await this.#connection.run(`DELETE FROM words WHERE rowid ${among}`, [numbers])
    await this.#connection.run(`DELETE FROM open_runs WHERE open_number ${among}`, [numbers])
  }
}

/** Undefined for a file of another version. */
async function openVersion(path: string): Promise<Connection | undefined> {
  const connection = await Connection.open({ path, readonly: false, busyTimeoutMs })
  try {
    await setUp(connection)
    const [row] = await connection.all('PRAGMA user_version')
    if (row?.user_version === version) return connection
  } catch (error) {
    await connection.close().catch(() => {})
    throw error
  }
  await connection.close()
  return undefined
}

async function create(path: string): Promise<Connection> {
  await removeSearchFile(path)
  const file = await open(path, 'wx', 0o600)
  await file.close()
  const connection = await Connection.open({ path, readonly: false, busyTimeoutMs })
  await connection.exec(newFile)
  await setUp(connection)
  await connection.exec(schema)
  return connection
}

async function setUp(connection: Connection): Promise<void> {
  await connection.all('PRAGMA journal_mode = WAL')
  await connection.all('PRAGMA synchronous = NORMAL')
  await connection.all('PRAGMA secure_delete = 1')
}

export function searchPathOf(path: string): string {
  return `${path.replace(/\.db$/, '')}-search.db`
}

export async function removeSearchFile(path: string): Promise<void> {
  for (const ending of ['', '-wal', '-shm']) await rm(`${path}${ending}`, { force: true })
}

/** Whether the file is unreadable and must be rebuilt. */
export function isDamaged(error: unknown): boolean {
  return classify(error) === 'fatal'
}

/** An error of the index never affects the sessions. */
export function toSearchError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (classify(error) === 'full') {
    return new AppError('storage_full', 'The disk is full: the search index could not be updated.', {
      cause: error,
    })
  }
  const message = 'The search index could not be read. Delete the file; it will be rebuilt.'
  return new AppError('unavailable', message, { cause: error, retryAfterSeconds: 1 })
}

import type { Database } from '../database.ts'
import { selectAppeared, selectChanged, selectMissing, takeAll } from './word-steps.ts'

/*
 * Run numbers are given before they are committed, so a lower number may appear after a higher one. The words are complete
 * up to a mark only when all transactions have ended that were under way when the mark was set, and the runs since have been
 * looked at once more.
 */

/** A transaction gets its own number just after that of its first run. */
const graceSeconds = 10
/** With more, all runs above the mark are looked at again. */
const maxGaps = 2_000

const selectState = `SELECT coalesce(complete_until, 0) AS complete_until, coalesce(mark_until, 0) AS mark_until,
    coalesce(mark_xid <= pg_snapshot_xmin(pg_current_snapshot())
      AND mark_at < clock_timestamp() - interval '${graceSeconds} seconds', false) AS is_passed,
    coalesce(mark_xid > pg_snapshot_xmax(pg_current_snapshot()), true) AS is_foreign,
    pg_snapshot_xmax(pg_current_snapshot())::text AS xid,
    coalesce((SELECT run_number FROM run ORDER BY run_number DESC LIMIT 1), 0) AS newest
  FROM (SELECT 1) AS always LEFT JOIN search_state ON true`

interface State {
  complete_until: number
  mark_until: number
  /** No transaction is left that could add a run below the mark. */
  is_passed: boolean
  /** There is none, or the database was moved to a server that counts transactions anew. */
  is_foreign: boolean
  xid: string
  newest: number
}

/** Parameters: after which number, up to which, and how many. */
const selectGaps = `SELECT before + 1 AS first, run_number - 1 AS last FROM (
    SELECT run_number, lag(run_number, 1, $1) OVER (ORDER BY run_number) AS before FROM (
      (SELECT run_number FROM run WHERE run_number > $1 AND run_number <= $2 ORDER BY run_number)
      UNION ALL SELECT $2 + 1) AS numbers) AS steps
  WHERE run_number > before + 1 LIMIT $3`

/** Numbers that no run had. */
interface Gap {
  first: number
  last: number
}

export class WordIndex {
  readonly #database: Database
  /** All runs up to here have words, but for those that appear in the gaps. */
  #seenUntil = 0
  #gaps: Gap[] = []

  constructor(database: Database) {
    this.#database = database
  }

  /** Takes the words of all runs that were committed before the call. One call at a time. */
  async update(): Promise<void> {
    const [state] = await this.#database.read.all<State>(selectState)
    if (state === undefined) return
    await this.#takeNew(state)
    await takeAll(this.#database, selectChanged)
    if (state.is_foreign || (state.is_passed && state.newest > state.complete_until)) await this.#setMark(state)
  }

  async #takeNew({ complete_until: complete, newest }: State): Promise<void> {
    // Runs were deleted, or the database is another.
    if (newest < this.#seenUntil) this.#seenUntil = 0
    const from = Math.max(complete, this.#seenUntil)
    const known = from === complete ? [] : this.#gaps.filter(({ last }) => last > complete)
    // What appears from here on is in a gap.
    const later = newest > from ? await this.#gapsAmong(from, newest) : []
    if (known.length > 0) {
      const bounds = [known.map(({ first }) => first), known.map(({ last }) => last)]
      await takeAll(this.#database, selectAppeared, complete, ...bounds)
    }
    await takeAll(this.#database, selectMissing, from)
    if (known.length + later.length > maxGaps) return
    this.#gaps = [...known, ...later]
    this.#seenUntil = newest
  }

  #gapsAmong(after: number, until: number): Promise<Gap[]> {
    return this.#database.read.all<Gap>(selectGaps, [after, until, maxGaps + 1])
  }

  /** Everything up to the mark before is complete now. */
  async #setMark({ is_passed, mark_until, complete_until, newest, xid }: State): Promise<void> {
    const complete = is_passed ? mark_until : complete_until
    await this.#database.work((sql) =>
      sql.run(
        `INSERT INTO search_state (complete_until, mark_until, mark_xid) VALUES ($1, $2, $3::xid8)
         ON CONFLICT (is_only) DO UPDATE SET complete_until = greatest(search_state.complete_until, excluded.complete_until),
           mark_until = excluded.mark_until, mark_xid = excluded.mark_xid, mark_at = clock_timestamp()`,
        [complete, newest, xid],
      ),
    )
  }
}

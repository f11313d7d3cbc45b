import type { Sql } from '../../../postgres/connection.ts'

/*
 * The words of runs, by which a search finds them, must not outlive what they were taken from. Searches bring them forward at
 * any time, so each function is a statement of its own, after the statement that changed the runs: it then sees the words
 * that a search has taken before, and a search that comes later sees the runs as they are.
 */

/** Call it after the rows of these runs are deleted, in the same transaction. */
export async function forgetWords(sql: Sql, runNumbers: readonly number[]): Promise<void> {
  if (runNumbers.length === 0) return
  await sql.run('DELETE FROM run_words WHERE run_number = ANY($1::bigint[])', [runNumbers])
}

/**
 * Call it after messages of these runs were taken away without a new status or fence, in the same transaction. The next search
 * takes the words of what is left. The mark is another each time: a search that has read the run before can't overwrite it.
 */
export async function renewWords(sql: Sql, runNumbers: readonly number[]): Promise<void> {
  if (runNumbers.length === 0) return
  await sql.run(
    `INSERT INTO run_words (run_number, words, look)
     SELECT number, '', concat('changed ', pg_current_xact_id()) FROM unnest($1::bigint[]) AS number ORDER BY number
     ON CONFLICT (run_number) DO UPDATE SET words = excluded.words, look = excluded.look`,
    [runNumbers],
  )
}

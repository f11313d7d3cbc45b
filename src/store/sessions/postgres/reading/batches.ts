import type { BatchSource, PlacedBatch } from '../../rows/batches.ts'
import { largeBytes } from '../../rows/event-page.ts'
import type { Reader } from './records.ts'

/** The position of the batch in the run's own row, which is the last one. */
export const lastPlace = Number.MAX_SAFE_INTEGER

const numberOfRun = '(SELECT run_number FROM run WHERE run_id = $1)'
const from = '$2::bigint'

/** Which batches to read to have the events from a number on; follows FROM event. */
export const batchesFrom = (number: string, start: string) => `WHERE run_number = ${number} AND first_seq >= coalesce(
  (SELECT max(first_seq) FROM event WHERE run_number = ${number} AND first_seq <= ${start}), 0)`
const lastOfRun = `run WHERE run_id = $1 AND last_batch IS NOT NULL AND recorded_seq >= ${from}`

export const unlessLarge = (batch: string) =>
  `CASE WHEN octet_length(${batch}) <= ${largeBytes} THEN ${batch} END AS batch`

/** At most $3 batches of the run $1 from the event $2 on; `batch` is null when it is large, to be read by itself. */
const selectBatches = `(SELECT first_seq::bigint AS place, ${unlessLarge('batch')}
    FROM event ${batchesFrom(numberOfRun, from)} ORDER BY first_seq LIMIT $3)
  UNION ALL SELECT ${lastPlace}, ${unlessLarge('last_batch')} FROM ${lastOfRun}
  ORDER BY place LIMIT $3`

/** The batch of the run $1 at the position $2. */
const selectBatch = `SELECT batch FROM event WHERE run_number = ${numberOfRun} AND first_seq = ${from}
  UNION ALL SELECT last_batch FROM run WHERE run_id = $1 AND ${from} = ${lastPlace}`

const hasSign = (batch: string, signs: number) =>
  Array.from({ length: signs }, (_, at) => `strpos(${batch}, $${4 + at}) > 0`).join(' OR ')

/** The same positions as for `selectBatches`; `found`, and `batch` set, for those that contain one of the texts from $4 on. */
const selectBatchesWith = (signs: number) => `SELECT place, found,
    CASE WHEN found AND octet_length(looked) <= ${largeBytes} THEN looked END AS batch FROM (
    (SELECT first_seq::bigint AS place, batch AS looked, ${hasSign('batch', signs)} AS found
      FROM event ${batchesFrom(numberOfRun, from)} ORDER BY first_seq LIMIT $3)
    UNION ALL SELECT ${lastPlace}, last_batch, ${hasSign('last_batch', signs)} FROM ${lastOfRun}
    ORDER BY place LIMIT $3) AS looks`

/** In a transaction or by itself. */
export function batchSource(sql: Reader, runId: string): BatchSource {
  return {
    runId,
    read: (start, limit) => sql.all<PlacedBatch>(selectBatches, [runId, start, limit]),
    search: (start, limit, signs) =>
      sql.all<PlacedBatch & { found: boolean }>(selectBatchesWith(signs.length), [runId, start, limit, ...signs]),
    async readOne(place) {
      const [row] = await sql.all<{ batch: string | null }>(selectBatch, [runId, place])
      return row?.batch ?? undefined
    },
  }
}

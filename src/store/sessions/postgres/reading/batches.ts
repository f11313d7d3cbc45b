import type { RunEvent } from '../../../../core/event.ts'
import { decodeBatch } from '../../rows/event-batch.ts'
import { largeBytes, maxBatches, type RecordedBatch, signOf } from '../../rows/event-page.ts'
import type { Reader } from './records.ts'

/** The position of the batch in the run's own row, which is the last one. */
export const lastPlace = Number.MAX_SAFE_INTEGER

export interface BatchColumns {
  place: number
  batch: string | null
}

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

/** Undefined: the run has been deleted. */
async function readBatch(sql: Reader, runId: string, place: number): Promise<string | undefined> {
  const [row] = await sql.all<{ batch: string | null }>(selectBatch, [runId, place])
  return row?.batch ?? undefined
}

/** The recorded events of a run after the event `after`, one batch at a time; in a transaction or by itself. */
export async function* readBatches(
  sql: Reader,
  runId: string,
  after: number,
  atOnce = maxBatches,
): AsyncGenerator<RecordedBatch> {
  for (let last = after; ; ) {
    const rows = await sql.all<BatchColumns>(selectBatches, [runId, last + 1, atOnce])
    for (const { place, batch } of rows) {
      const text = batch ?? (await readBatch(sql, runId, place))
      if (text === undefined) return
      const recorded = toBatch(runId, text, last)
      last = recorded.events.at(-1)?.seq ?? last
      yield recorded
    }
    if (rows.length < atOnce) return
  }
}

export function toBatch(runId: string, text: string, after: number): RecordedBatch {
  return { events: decodeBatch(runId, text).filter(({ seq }) => seq > after), characters: text.length }
}

/** Batches that one statement searches, about 16 MB. */
const searchedAtOnce = 1_000

/** The events of these types after the event `after`, from the batches that contain such events. */
export async function* readBatchesWith(
  sql: Reader,
  runId: string,
  after: number,
  types: readonly RunEvent['type'][],
): AsyncGenerator<RecordedBatch> {
  if (types.length === 0) return
  const wanted = new Set(types)
  const signs = [...new Set(types.map(signOf))]
  const select = selectBatchesWith(signs.length)
  for (let start = after + 1, seen = 0; ; ) {
    const params = [runId, start, searchedAtOnce, ...signs]
    const rows = await sql.all<BatchColumns & { found: boolean }>(select, params)
    for (const { place, found, batch } of rows) {
      // The first row is the batch that holds `start`, which may have been searched already.
      if (!found || place <= seen) continue
      const text = batch ?? (await readBatch(sql, runId, place))
      if (text === undefined) return
      const events = decodeBatch(runId, text).filter(({ seq, type }) => seq > after && wanted.has(type))
      if (events.length > 0) yield { events, characters: text.length }
    }
    if (rows.length < searchedAtOnce) return
    seen = start = rows.at(-1)?.place ?? start
  }
}

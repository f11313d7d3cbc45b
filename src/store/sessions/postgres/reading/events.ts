import { endEvent, type RunEvent, startEvent } from '../../../../core/event.ts'
import { isEnded, type RunHead } from '../../../../core/run.ts'
import { eventPageCharacters } from '../../../rules/page-size.ts'
import { BatchedReads } from '../../rows/batched-reads.ts'
import { type PlacedBatch, readBatches, readBatchesWith, toBatch } from '../../rows/batches.ts'
import { batchesFor, EventPage, largeBytes, type RecordedBatch, readEventPage } from '../../rows/event-page.ts'
import { batchesFrom, batchSource, lastPlace, unlessLarge } from './batches.ts'
import { type Reader, type Requested, wholeHeads } from './records.ts'
import { type HeadColumns, headColumns, toHead } from './rows.ts'

/**
 * A run and the first batches that a reader wants of it, which one moment shows: so an end never comes without the events
 * before it. Of a run that goes on only the batches, unless `starts`. Parameters: the run ids; from which event on; how many
 * batches; `starts`; how many bytes of batches for each request.
 */
const selectPages = `SELECT request.place - 1 AS request_key, part.place, part.batch, part.head
  FROM unnest($1::text[], $2::bigint[], $3::int[], $4::boolean[]) WITH ORDINALITY AS request(id, start, most, starts, place)
  CROSS JOIN LATERAL (SELECT run_number, last_batch, recorded_seq,
      CASE WHEN request.starts OR status NOT IN ('running', 'queued')
        THEN (SELECT row_to_json(head) FROM (SELECT ${headColumns}) AS head) END AS head
    FROM run WHERE run_id = request.id LIMIT 1) AS found
  CROSS JOIN LATERAL (
    SELECT 0::bigint AS place, NULL AS batch, found.head WHERE found.head IS NOT NULL
    UNION ALL (SELECT first_seq, CASE WHEN bytes_before < $5 AND bytes <= ${largeBytes} THEN batch END, NULL FROM (
      SELECT first_seq, batch, bytes, sum(bytes) OVER (ORDER BY first_seq) - bytes AS bytes_before FROM (
        SELECT first_seq, batch, octet_length(batch) AS bytes FROM event
          ${batchesFrom('found.run_number', 'request.start')} ORDER BY first_seq LIMIT request.most) AS sized) AS summed)
    UNION ALL SELECT ${lastPlace}, ${unlessLarge('found.last_batch')}, NULL
      WHERE found.last_batch IS NOT NULL AND found.recorded_seq >= request.start) AS part
  ORDER BY request.place, part.place`

type Wanted = [id: string, start: number, most: number, starts: boolean]
type PageColumns = PlacedBatch & Requested & { head: HeadColumns | null }

/** More requests than these would make each one's share of a statement small. */
const requestsAtOnce = 64

/** Pages of recorded events; those of one turn share a statement. */
export function eventReads(sql: Reader, maxBytes: number) {
  const most = Math.min(eventPageCharacters, maxBytes)
  const reads = new BatchedReads<PageColumns>((requests) => {
    const wanted = requests.map((request): Wanted => JSON.parse(request))
    const share = Math.floor(Math.min(most, maxBytes / requests.length))
    return sql.all(selectPages, [...[0, 1, 2, 3].map((at) => wanted.map((one) => one[at])), share])
  }, requestsAtOnce)

  return async (
    runId: string,
    after: number,
    limit: number,
    types?: readonly RunEvent['type'][],
  ): Promise<RunEvent[]> => {
    if (limit <= 0) return []
    const from = Math.min(Math.max(after, 1), lastPlace - 2)
    const atOnce = batchesFor(limit)
    const wanted: Wanted = types === undefined ? [runId, from + 1, atOnce, after < 1] : [runId, lastPlace, 0, true]
    const rows = await reads.read(JSON.stringify(wanted))
    const head = rows[0]?.head
    const [found] = head ? await wholeHeads(sql, [head]) : []
    if (rows.length === 0 || (head && found === undefined)) return []
    const given = head ? rows.slice(1) : rows
    const { events, isLast } =
      types === undefined
        ? (pageOf(runId, from, given, atOnce, new EventPage(limit, most)) ??
          (await readEventPage(continued(sql, runId, from, given, atOnce), limit, most)))
        : await readEventPage(readBatchesWith(batchSource(sql, runId), from, types), limit, most)
    return found === undefined ? events : withEnds(toHead(found), events, after, isLast).slice(0, limit)
  }
}

function withEnds(run: RunHead, events: RunEvent[], after: number, isLast: boolean): RunEvent[] {
  if (after < 1) events.unshift(startEvent(run))
  if (isLast && isEnded(run.status) && run.end_seq !== null && run.end_seq > after)
    events.push(endEvent(run, run.end_seq))
  return events
}

/** The page from the batches that were read with the run; undefined: there are more. */
function pageOf(
  runId: string,
  after: number,
  rows: readonly PlacedBatch[],
  atOnce: number,
  page: EventPage,
): EventPage | undefined {
  if (rows.length >= atOnce || rows.some(({ batch }) => batch === null)) return undefined
  let last = after
  for (const { batch } of rows) {
    const recorded = toBatch(runId, batch as string, last)
    last = recorded.events.at(-1)?.seq ?? last
    if (page.add(recorded)) break
  }
  return page
}

/** The batches that were read with the run, then the rest. */
async function* continued(
  sql: Reader,
  runId: string,
  after: number,
  rows: readonly PlacedBatch[],
  atOnce: number,
): AsyncGenerator<RecordedBatch> {
  const first = rows.filter(({ place }) => place < lastPlace)
  const isAll = first.length < atOnce
  let last = after
  for (const { batch } of isAll ? rows : first) {
    if (batch === null) return yield* readBatches(batchSource(sql, runId), last, atOnce)
    const recorded = toBatch(runId, batch, last)
    last = recorded.events.at(-1)?.seq ?? last
    yield recorded
  }
  if (!isAll) yield* readBatches(batchSource(sql, runId), last, atOnce)
}

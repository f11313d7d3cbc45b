import { sessionColumns, summaryColumns } from '../schema/rows.ts'

/*
 * The reading statements. Those that several callers wait for take a JSON array of all their requests and are answered
 * together; `request_key` is a request's place in it. Rows are put together as text, since what they hold is JSON
 * already and need not be parsed for it.
 */

const list = (columns: readonly string[]) => `json_array(${columns.join(', ')})`
const listText = (items: readonly string[]) => `concat('[', concat_ws(',', ${items.join(', ')}), ']')`

const quoted = ['run_id', 'run_session_id', 'parent_run_id', 'entity_id', 'status', 'run_user_id']
const runAs = (begun: string, ended: string) =>
  listText([...quoted.map((column) => `json_quote(${column})`), 'truncated', begun, `ifnull(${ended}, 'null')`])
/** A `RunRow` as text. */
const runText = runAs('begun', 'ended')
/** A `RecordRow` as text. */
const recordText = listText(['run_number', runText, 'input', `ifnull(output, 'null')`])

const bytesOf = (columns: readonly string[]) =>
  columns.map((column) => `ifnull(octet_length(${column}), 0)`).join(' + ')
/** How many bytes a record has. Costs no more for a large one, whose texts are not read for it. */
export const recordBytes = `(${bytesOf(['input', 'output', 'begun', 'ended'])})`

/** A `RecordRow` as text, or a `LargeRow` of one that has more than so many bytes. */
const recordOrSize = (most: string) =>
  `iif(${recordBytes} <= ${most}, ${recordText}, json_array(run_number, ${recordBytes}))`

const beginning = `iif(octet_length(begun) <= 1000, begun, json_remove(begun, '$.metadata'))`
const ending = (whole: string) => `iif(octet_length(ended) <= 4000, ended, json_remove(${whole}, '$.sources'))`
/** With the beginning of an error that is longer than anybody reads. */
const cutEnd = `iif(ended ->> '$.error.message' IS NULL, ended,
  json_set(ended, '$.error.message', substr(ended ->> '$.error.message', 1, 10000)))`
/** A `RunRow` as text, without what may be large and only the record shows: metadata and sources. */
const runHeadText = runAs(beginning, ending('ended'))
/** The same for lists. */
const listedRunText = runAs(beginning, ending(cutEnd))

/** The newest turns of a session, in no order: sorting whole rows costs more than their numbers do. */
const newestTurns = (
  text: string,
  session: string,
  limit: string,
  more = '',
) => `(SELECT concat('[', group_concat(turn, ','), ']')
   FROM (SELECT ${text} AS turn FROM runs WHERE run_session_id = ${session} AND parent_run_id IS NULL ${more}
     ORDER BY run_number DESC LIMIT ${limit}))`

/** The most bytes of a record that comes with others; requests: run ids. */
export const selectRuns = `SELECT request.key AS request_key, ${recordOrSize('?1')} AS record_row
  FROM json_each(?2) AS request CROSS JOIN runs ON run_id = request.value`

/** One record, however large. */
export const selectRun = `SELECT run_number, ${runText} AS run_row, input, output FROM runs WHERE run_id = ?`

/** Records by their numbers. */
export const selectNumbered = `SELECT run_number, ${runText} AS run_row, input, output
  FROM json_each(?) CROSS JOIN runs ON run_number = value`

/** The same without what was said, which may be large. */
export const selectRunHeads = `SELECT request.key AS request_key,
    ${listText(['run_number', runHeadText, "'[]'", "'null'"])} AS record_row
  FROM json_each(?) AS request CROSS JOIN runs ON run_id = request.value`

/** The most bytes of a record that comes with others, and the limit that they share; requests: session ids. */
export const selectHistories = `SELECT request.key AS request_key,
    ${newestTurns(recordOrSize('?1'), 'request.value', '?2')} AS record_rows
  FROM json_each(?3) AS request`

/** Of the session ?2, of those put in before the run ?4, at most ?3. */
export const selectHistoryBefore = `SELECT ${newestTurns(
  recordOrSize('?1'),
  '?2',
  '?3',
  'AND run_number < (SELECT run_number FROM runs WHERE run_id = ?4)',
)} AS record_rows`

/** Of the session ?1 all runs behind the run ?2, at most ?3: their numbers and sizes. */
export const selectSizes = `SELECT run_number, ${recordBytes} AS bytes FROM runs WHERE run_session_id = ?1
  AND run_number > ifnull((SELECT run_number FROM runs WHERE run_id = ?2), 0) ORDER BY run_number LIMIT ?3`

const sessionBytes = `(${bytesOf(['metadata', 'state'])} + ifnull(
  (SELECT octet_length(content) FROM summaries WHERE summary_session_id = session_id), 0))`

/** `session_row` and `summary_row` are null in a session that has more than `most` bytes besides its runs. */
const sessionFields = (newestRuns: string, most: string) => `session_id AS found_id, ${sessionBytes} AS bytes,
  iif(${sessionBytes} <= ${most}, ${list(sessionColumns)}, NULL) AS session_row,
  (SELECT json_group_array(json_array(owner_kind, owner_id) ORDER BY owner_position)
     FROM session_owners WHERE owner_session_id = session_id) AS owner_rows,
  ${newestTurns(listText(['run_number', listedRunText]), 'session_id', newestRuns)} AS run_rows,
  iif(${sessionBytes} <= ${most},
    (SELECT ${list(summaryColumns)} FROM summaries WHERE summary_session_id = session_id), NULL) AS summary_row`

/** The most bytes of a session that comes with others, and how many runs it shows; requests: session ids. */
export const selectSessions = `SELECT request.key AS request_key, ${sessionFields('?2', '?1')}
  FROM json_each(?3) AS request CROSS JOIN sessions ON session_id = request.value`

/** The fields of a session in a list; `from` names the rows and their order. */
export const selectSessionPage = (from: string, most: number) => `SELECT ${sessionFields('10', String(most))} ${from}`

export const selectRunPage = (from: string) => `SELECT run_number, ${listedRunText} AS run_row ${from}`

const numberOfRun = '(SELECT run_number FROM runs WHERE run_id = ?1)'

/** The place of the batch in the run's own row, which is the last. */
export const lastPlace = Number.MAX_SAFE_INTEGER

/**
 * Batches with events from a number on: of the run ?1, from ?2, at most ?3. One that has more than ?4 bytes is null: it is
 * read by its place.
 */
export const selectEvents = `SELECT first_seq AS place, iif(octet_length(batch) <= ?4, batch, NULL) AS batch FROM events
    WHERE event_run_number = ${numberOfRun} AND first_seq >= ifnull(
      (SELECT max(first_seq) FROM events WHERE event_run_number = ${numberOfRun} AND first_seq <= ?2), 0)
  UNION ALL SELECT ${lastPlace}, iif(octet_length(last_batch) <= ?4, last_batch, NULL) FROM runs
    WHERE run_id = ?1 AND last_batch IS NOT NULL AND recorded_seq >= ?2
  ORDER BY place LIMIT ?3`

const hasSign = (batch: string, signs: number) =>
  Array.from({ length: signs }, (_, at) => `instr(${batch}, ?${5 + at}) > 0`).join(' OR ')

/** The same places; `found` is 1, and `batch` given, for those that have one of so many texts, ?5 and on. */
export const selectEventsWith = (
  signs: number,
) => `SELECT place, found, iif(found AND octet_length(looked) <= ?4, looked, NULL) AS batch FROM (
    SELECT first_seq AS place, batch AS looked, ${hasSign('batch', signs)} AS found FROM events
      WHERE event_run_number = ${numberOfRun} AND first_seq >= ifnull(
        (SELECT max(first_seq) FROM events WHERE event_run_number = ${numberOfRun} AND first_seq <= ?2), 0)
    UNION ALL SELECT ${lastPlace}, last_batch, ${hasSign('last_batch', signs)} FROM runs
      WHERE run_id = ?1 AND last_batch IS NOT NULL AND recorded_seq >= ?2
    ORDER BY place LIMIT ?3)`

/** Of the run ?1 the batch at the place ?2. */
export const selectBatch = `SELECT batch FROM events WHERE event_run_number = ${numberOfRun} AND first_seq = ?2
  UNION ALL SELECT last_batch FROM runs WHERE run_id = ?1 AND ?2 = ${lastPlace}`

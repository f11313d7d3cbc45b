import { sessionColumns, summaryColumns } from './rows.ts'

/*
 * The reading statements. Those that several callers wait for take a JSON array of all their requests and are answered
 * together; `request_key` is a request's place in it. Rows are put together as text, since what they hold is JSON
 * already and need not be parsed for it.
 */

const list = (columns: readonly string[]) => `json_array(${columns.join(', ')})`
const listText = (items: readonly string[]) => `concat('[', concat_ws(',', ${items.join(', ')}), ']')`

const quoted = ['run_id', 'run_session_id', 'parent_run_id', 'entity_id', 'status', 'run_user_id']
/** A `RunRow` as text. */
const runText = listText([
  ...quoted.map((column) => `json_quote(${column})`),
  'truncated',
  'begun',
  `ifnull(ended, 'null')`,
])
/** A `RecordRow` as text. */
export const recordText = listText(['run_number', runText, 'input', `ifnull(output, 'null')`])

/** The newest turns of a session, in no order: sorting whole rows costs more than their numbers do. */
const newestTurns = (
  text: string,
  session: string,
  limit: string,
  more = '',
) => `(SELECT concat('[', group_concat(turn, ','), ']')
   FROM (SELECT ${text} AS turn FROM runs WHERE run_session_id = ${session} AND parent_run_id IS NULL ${more}
     ORDER BY run_number DESC LIMIT ${limit}))`

/** Requests: run ids. */
export const selectRuns = `SELECT request.key AS request_key, ${recordText} AS record_row
  FROM json_each(?) AS request CROSS JOIN runs ON run_id = request.value`

/** The same without what was said, which may be large. */
export const selectRunHeads = `SELECT request.key AS request_key,
    ${listText(['run_number', runText, "'[]'", "'null'"])} AS record_row
  FROM json_each(?) AS request CROSS JOIN runs ON run_id = request.value`

/** The limit that they share; requests: session ids. */
export const selectHistories = `SELECT request.key AS request_key, ${newestTurns(recordText, 'request.value', '?')} AS record_rows
  FROM json_each(?) AS request`

/** Of the session ?1, of those put in before the run ?3, at most ?2. */
export const selectHistoryBefore = `SELECT ${newestTurns(
  recordText,
  '?1',
  '?2',
  'AND run_number < (SELECT run_number FROM runs WHERE run_id = ?3)',
)} AS record_rows`

/** Of the session ?1 all runs behind the run ?2, at most ?3. */
export const selectRecords = `SELECT ${recordText} AS record_row FROM runs WHERE run_session_id = ?1
  AND run_number > ifnull((SELECT run_number FROM runs WHERE run_id = ?2), 0) ORDER BY run_number LIMIT ?3`

const sessionFields = (newestRuns: string) => `${list(sessionColumns)} AS session_row,
  (SELECT json_group_array(json_array(owner_kind, owner_id) ORDER BY owner_position)
     FROM session_owners WHERE owner_session_id = session_id) AS owner_rows,
  ${newestTurns(listText(['run_number', runText]), 'session_id', newestRuns)} AS run_rows,
  (SELECT ${list(summaryColumns)} FROM summaries WHERE summary_session_id = session_id) AS summary_row`

/** Requests: session ids. */
export const selectSessions = `SELECT request.key AS request_key, ${sessionFields('100')}
  FROM json_each(?) AS request CROSS JOIN sessions ON session_id = request.value`

/** The fields of a session in a list; `from` names the rows and their order. */
export const selectSessionPage = (from: string) => `SELECT ${sessionFields('10')} ${from}`

export const selectRunPage = (from: string) => `SELECT run_number, ${runText} AS run_row ${from}`

const numberOfRun = '(SELECT run_number FROM runs WHERE run_id = ?1)'

/** Batches with events from a number on: of the run ?1, from ?2, at most ?3. The one in the run's own row is the last. */
export const selectEvents = `SELECT first_seq AS place, batch FROM events
    WHERE event_run_number = ${numberOfRun} AND first_seq >= ifnull(
      (SELECT max(first_seq) FROM events WHERE event_run_number = ${numberOfRun} AND first_seq <= ?2), 0)
  UNION ALL SELECT ${Number.MAX_SAFE_INTEGER}, last_batch FROM runs
    WHERE run_id = ?1 AND last_batch IS NOT NULL AND recorded_seq >= ?2
  ORDER BY place LIMIT ?3`

import { messageColumns, runColumns, runRecordColumns, sessionColumns, summaryColumns } from './rows.ts'

/*
 * The reading statements. Those that several callers wait for take a JSON array of all their requests and are answered
 * together; `request_key` is a request's place in it.
 */

const list = (columns: readonly string[]) => `json_array(${columns.join(', ')})`

const runFields = `${list(runRecordColumns)} AS run_row,
  (SELECT json_group_array(${list(messageColumns)} ORDER BY message_seq, message_index)
     FROM messages WHERE message_run_id = run_id) AS message_rows`

/** Requests: run ids. */
export const selectRuns = `SELECT request.key AS request_key, ${runFields}
  FROM json_each(?) AS request CROSS JOIN runs ON run_id = request.value`

/** Requests: session ids; then the limit that they share. In no order: sorting whole rows costs more than numbers do. */
export const selectHistories = `SELECT request.key AS request_key, run_number, ${runFields}
  FROM json_each(?) AS request CROSS JOIN runs ON run_number IN (
    SELECT newest.run_number FROM runs AS newest WHERE newest.run_session_id = request.value AND newest.parent_run_id IS NULL
    ORDER BY newest.run_number DESC LIMIT ?)`

const sessionFields = (newestRuns: string) => `${list(sessionColumns)} AS session_row,
  (SELECT json_group_array(json_array(owner_kind, owner_id) ORDER BY owner_position)
     FROM session_owners WHERE owner_session_id = session_id) AS owner_rows,
  (SELECT json_group_array(${list(runColumns)} ORDER BY run_number) FROM (
     SELECT * FROM runs WHERE run_session_id = session_id AND parent_run_id IS NULL
     ORDER BY run_number DESC LIMIT ${newestRuns})) AS run_rows,
  (SELECT ${list(summaryColumns)} FROM summaries WHERE summary_session_id = session_id) AS summary_row`

/** Requests: session ids. */
export const selectSessions = `SELECT request.key AS request_key, ${sessionFields('100')}
  FROM json_each(?) AS request CROSS JOIN sessions ON session_id = request.value`

/** The fields of a session in a list; `from` names the rows and their order. */
export const selectSessionPage = (from: string) => `SELECT ${sessionFields('10')} ${from}`

export const selectRunPage = (from: string) => `SELECT run_number, ${list(runColumns)} AS run_row ${from}`

export const selectEvents = `SELECT batch FROM events
  WHERE event_run_id = ? AND first_seq >= ifnull(
    (SELECT max(first_seq) FROM events WHERE event_run_id = ? AND first_seq <= ?), 0)
  ORDER BY first_seq LIMIT ?`

import { type Column, getTableColumns } from 'drizzle-orm'
import { runColumns, type SessionRow, type SummaryRow } from '../../rows/rows.ts'
import { namesOf } from '../schema/columns.ts'
import { runs, sessionOwners, sessions, summaries } from '../schema/schema.ts'

/**
 * The statements that read runs. Those that several callers share take a JSON array of their requests; `request_key` is
 * a request's index in it. Rows are built as JSON text, because most of their content is JSON already and need not be
 * parsed.
 */

const quoted = (column: string) => `json_quote(${column})`
const orNull = (json: string) => `ifnull(${json}, 'null')`
/** A JSON array as text, of items that are JSON texts. */
const listText = (...items: string[]) => `concat('[', concat_ws(',', ${items.join(', ')}), ']')`
const rowOf = <Row>(columns: { [Name in keyof Row]: Column }) =>
  `json_object(${Object.entries<Column>(columns)
    .map(([name, column]) => `'${name}', ${column.name}`)
    .join(', ')})`

const runOf = (begun: string, ended: string) => listText(...namesOf(runs, runColumns).map(quoted), begun, orNull(ended))
/** A `RunRow` as text. */
const runText = runOf(runs.begun.name, runs.ended.name)
const recordOf = (...more: string[]) =>
  listText(runs.runNumber.name, runText, runs.input.name, orNull(runs.output.name), ...more)
/** A `RecordRow` as text. */
const recordText = recordOf(orNull(runs.given.name))
/** The same for histories, which leave out what the caller gave. */
const turnText = recordOf()

const bytesOf = (...columns: Column[]) => columns.map(({ name }) => `ifnull(octet_length(${name}), 0)`).join(' + ')
const turnBytes = `(${bytesOf(runs.input, runs.output, runs.begun, runs.ended)})`
/** The size of a record in bytes. SQLite knows it without reading the texts. */
export const recordBytes = `(${bytesOf(runs.input, runs.output, runs.begun, runs.ended, runs.given)})`

/** The text, or a `LargeRow` when there are more bytes than `maxBytes`. */
const textOrSize = (text: string, bytes: string, maxBytes: string) =>
  `iif(${bytes} <= ${maxBytes}, ${text}, json_array(run_number, ${bytes}))`
const recordOrSize = (maxBytes: string) => textOrSize(recordText, recordBytes, maxBytes)
const turnOrSize = (maxBytes: string) => textOrSize(turnText, turnBytes, maxBytes)

const beginning = `iif(octet_length(begun) <= 1000, begun, json_remove(begun, '$.metadata'))`
const ending = (whole: string) => `iif(octet_length(ended) <= 4000, ended, json_remove(${whole}, '$.sources'))`
const cutEnd = `iif(ended ->> '$.error.message' IS NULL, ended,
  json_set(ended, '$.error.message', substr(ended ->> '$.error.message', 1, 10000)))`
/** A `RunRow` as text, without large metadata and sources, which only records show. */
const runHeadText = runOf(beginning, ending('ended'))
/** The same for lists. */
const listedRunText = runOf(beginning, ending(cutEnd))

/** The newest runs of a session, unordered: sorting whole rows costs more than sorting their numbers. */
const newestTurns = (
  text: string,
  session: string,
  limit: string,
  more = '',
) => `(SELECT concat('[', group_concat(turn, ','), ']')
   FROM (SELECT ${text} AS turn FROM runs WHERE run_session_id = ${session} AND parent_run_id IS NULL ${more}
     ORDER BY run_number DESC LIMIT ${limit}))`

/** The first (`ASC`) or last turn of a session that fits `which`. */
export const turnOf = (fields: string, session: string, which: string, order: 'ASC' | 'DESC') =>
  `(SELECT ${fields} FROM runs WHERE run_session_id = ${session} AND parent_run_id IS NULL AND ${which}
    ORDER BY run_number ${order} LIMIT 1)`
/** The last turn of the conversation of a row of `sessions`. */
export const lastTurn = (fields: string) => turnOf(fields, 'session_id', 'replaced_by IS NULL', 'DESC')

/** Parameters: the maximum size of a record in a shared statement; the run ids. */
export const selectRuns = `SELECT request.key AS request_key, ${recordOrSize('?1')} AS record_row
  FROM json_each(?2) AS request CROSS JOIN runs ON run_id = request.value`

const columnsOf = (given: string) => `run_number, ${runText} AS run_row, input, output, ${given} AS given`

export const selectRun = `SELECT ${columnsOf('given')} FROM runs WHERE run_id = ?`

const selectNumbered = (given: string) =>
  `SELECT ${columnsOf(given)} FROM json_each(?) CROSS JOIN runs ON run_number = value`
export const selectRecords = selectNumbered('given')
export const selectTurns = selectNumbered('NULL')

/** Without the messages, which may be large. */
export const selectRunHeads = `SELECT request.key AS request_key,
    ${listText(runs.runNumber.name, runHeadText, "'[]'", "'null'")} AS record_row
  FROM json_each(?) AS request CROSS JOIN runs ON run_id = request.value`

/** Parameters: the maximum size of a record in a shared statement; the shared limit; the session ids. */
export const selectHistories = `SELECT request.key AS request_key,
    ${newestTurns(turnOrSize('?1'), 'request.value', '?2', 'AND replaced_by IS NULL')} AS record_rows
  FROM json_each(?3) AS request`

/** At most ?3 turns of the session ?2, replaced ones too. */
const turns = (more: string) => `${newestTurns(turnOrSize('?1'), '?2', '?3', more)} AS record_rows`
export const selectAllTurns = `SELECT ${turns('')}`
/** Those stored before the run ?4. */
export const selectAllTurnsBefore = `SELECT ${turns('AND run_number < (SELECT run_number FROM runs WHERE run_id = ?4)')}`

/** The turn ?4 and, while they are replaced, those before it; then one of the present conversation. */
const path = `WITH RECURSIVE path(place, number, is_shown) AS (
    SELECT 0, run_number, replaced_by IS NULL FROM runs
      WHERE run_id = ?4 AND run_session_id = ?2 AND parent_run_id IS NULL
    UNION ALL SELECT place + 1, earlier.run_number, earlier.replaced_by IS NULL FROM path
      CROSS JOIN runs AS later ON later.run_number = number CROSS JOIN runs AS earlier ON earlier.run_id = later.follows
      WHERE NOT is_shown AND place < ?3)`
const along = (bound: '<' | '<=') =>
  `${path} SELECT ${turns(`
  AND run_number ${bound} (SELECT number FROM path WHERE place = 0)
  AND (run_number IN (SELECT number FROM path)
    OR (replaced_by IS NULL AND run_number < (SELECT number FROM path WHERE is_shown)))`)}`
/** The conversation that led to the turn ?4: at most ?3 turns of the session ?2. */
export const selectTurnsBefore = along('<')
/** The same with the turn. */
export const selectTurnsUpTo = along('<=')

/** Numbers and sizes of at most ?3 runs of the session ?1 after the run ?2. */
export const selectSizes = `SELECT run_number, ${recordBytes} AS bytes FROM runs WHERE run_session_id = ?1
  AND run_number > ifnull((SELECT run_number FROM runs WHERE run_id = ?2), 0) ORDER BY run_number LIMIT ?3`

const sessionBytes = `(${bytesOf(sessions.metadata, sessions.state)} + ifnull(
  (SELECT ${bytesOf(summaries.content)} FROM summaries WHERE summary_session_id = session_id), 0))`

/** `session_row` and `summary_row` are null for a session that has more than `maxBytes` without its runs. */
const sessionFields = (newestRuns: string, maxBytes: string) => `session_id AS found_id, ${sessionBytes} AS bytes,
  iif(${sessionBytes} <= ${maxBytes}, ${rowOf<SessionRow>(getTableColumns(sessions))}, NULL) AS session_row,
  (SELECT json_group_array(${rowOf({ kind: sessionOwners.kind, ownerId: sessionOwners.ownerId })} ORDER BY owner_position)
     FROM session_owners WHERE owner_session_id = session_id) AS owner_rows,
  ${newestTurns(listText(runs.runNumber.name, listedRunText), 'session_id', newestRuns)} AS run_rows,
  iif(${sessionBytes} <= ${maxBytes}, (SELECT ${rowOf<SummaryRow>(getTableColumns(summaries))}
    FROM summaries WHERE summary_session_id = session_id), NULL) AS summary_row`

/** Parameters: the maximum size of a session in a shared statement; how many runs it shows; the session ids. */
export const selectSessions = `SELECT request.key AS request_key, ${sessionFields('?2', '?1')}
  FROM json_each(?3) AS request CROSS JOIN sessions ON session_id = request.value`

/** The same for sessions in a list. Parameters: the ids. */
export const selectSessionsOf = (maxBytes: number) =>
  `SELECT ${sessionFields('10', String(maxBytes))}
    FROM json_each(?) AS request CROSS JOIN sessions ON session_id = request.value ORDER BY request.key`

/** The fields of a session in a list; `from` names the rows and their order. */
export const selectSessionPage = (from: string, maxBytes: number) =>
  `SELECT ${sessionFields('10', String(maxBytes))} ${from}`

export const selectRunPage = (from: string) => `SELECT run_number, ${listedRunText} AS run_row ${from}`

const numberOfRun = '(SELECT run_number FROM runs WHERE run_id = ?1)'

/** The position of the batch in the run's own row, which is the last one. */
const lastPlace = Number.MAX_SAFE_INTEGER

/** At most ?3 batches of the run ?1 from event ?2 on; `batch` is null above ?4 bytes, to be read by itself. */
export const selectEvents = `SELECT first_seq AS place, iif(octet_length(batch) <= ?4, batch, NULL) AS batch FROM events
    WHERE event_run_number = ${numberOfRun} AND first_seq >= ifnull(
      (SELECT max(first_seq) FROM events WHERE event_run_number = ${numberOfRun} AND first_seq <= ?2), 0)
  UNION ALL SELECT ${lastPlace}, iif(octet_length(last_batch) <= ?4, last_batch, NULL) FROM runs
    WHERE run_id = ?1 AND last_batch IS NOT NULL AND recorded_seq >= ?2
  ORDER BY place LIMIT ?3`

const hasSign = (batch: string, signs: number) =>
  Array.from({ length: signs }, (_, at) => `instr(${batch}, ?${5 + at}) > 0`).join(' OR ')

/** The same positions; `found` is 1, and `batch` set, for batches that contain one of the texts ?5 and following. */
export const selectEventsWith = (
  signs: number,
) => `SELECT place, found, iif(found AND octet_length(looked) <= ?4, looked, NULL) AS batch FROM (
    SELECT first_seq AS place, batch AS looked, ${hasSign('batch', signs)} AS found FROM events
      WHERE event_run_number = ${numberOfRun} AND first_seq >= ifnull(
        (SELECT max(first_seq) FROM events WHERE event_run_number = ${numberOfRun} AND first_seq <= ?2), 0)
    UNION ALL SELECT ${lastPlace}, last_batch, ${hasSign('last_batch', signs)} FROM runs
      WHERE run_id = ?1 AND last_batch IS NOT NULL AND recorded_seq >= ?2
    ORDER BY place LIMIT ?3)`

/** The batch of the run ?1 at the position ?2. */
export const selectBatch = `SELECT batch FROM events WHERE event_run_number = ${numberOfRun} AND first_seq = ?2
  UNION ALL SELECT last_batch FROM runs WHERE run_id = ?1 AND ?2 = ${lastPlace}`

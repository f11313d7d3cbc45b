import type { Run, RunHead, RunRecord, RunStatus } from '../../../../core/run.ts'
import { withLater } from '../../rows/later-fields.ts'
import { type MessageRow, type RunRow, toRun, toRunRecord } from '../../rows/rows.ts'

/** Columns of `run` as statements name them, converted to the rows that all drivers share. */

interface PlainColumns {
  run_number: number
  run_id: string
  session_id: string
  parent_run_id: string | null
  entity_id: string
  status: RunStatus
  user_id: string | null
  truncated: boolean
  replaced_by: string | null
  follows: string | null
  started_at: string | null
}

interface RunColumns extends PlainColumns {
  begun: string
  ended: string | null
}

export interface RecordColumns extends RunColumns {
  input: string
  output: string | null
  unchecked: boolean
  given: string | null
}

/** A record, without its texts when they are large. */
export interface SizedColumns extends PlainColumns, Pick<RecordColumns, 'ended' | 'output' | 'unchecked' | 'given'> {
  bytes: number
  begun: string | null
  input: string | null
}

/** A run without large metadata and sources, which only records show. */
export interface HeadColumns extends RunColumns {
  /** Of the whole end. With no end beside it, the statement left it out. */
  ended_bytes: number | null
}

const plainColumns = `run_number, run_id, session_id, parent_run_id, entity_id, status, user_id, truncated, replaced_by,
  follows, started_at`
const columnsOf = (given: string) => `${plainColumns}, begun, ended, input, output, unchecked, ${given} AS given`
export const recordColumns = columnsOf('given')
/** For histories, which leave out what the caller gave. */
export const turnColumns = columnsOf('NULL::text')

const bytesOf = (...columns: string[]) =>
  `(${columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')})`
const turnBytes = bytesOf('input', 'output', 'begun', 'ended')
/** Postgres knows a size without reading the text. */
export const recordBytes = bytesOf('input', 'output', 'begun', 'ended', 'given')

/** Records up to a size; `from` follows FROM run. */
export const sizedRecords = (maxBytes: string, from: string) => sized(recordBytes, 'given', maxBytes, from)
/** The same for histories. */
export const sizedTurns = (maxBytes: string, from: string) => sized(turnBytes, 'NULL::text', maxBytes, from)

function sized(bytes: string, given: string, maxBytes: string, from: string): string {
  const small = (column: string) => `CASE WHEN bytes <= ${maxBytes} THEN ${column} END AS ${column}`
  return `SELECT ${plainColumns}, unchecked, bytes, ${['begun', 'ended', 'input', 'output'].map(small).join(', ')},
    CASE WHEN bytes <= ${maxBytes} THEN ${given} END AS given FROM (SELECT *, ${bytes} AS bytes FROM run ${from}) AS run`
}

const usualBegun = 1_000
const usualEnded = 4_000
/** An end that is larger without its sources is read by itself. */
const largestEnded = 64 * 1024

/*
 * Text in JSON has its quotes escaped, so that the first `,"name":` is the first key of that name. What comes before the
 * metadata and the sources has no such key, and the metadata come last. JSON functions would refuse U+0000.
 */
const cutAt = (text: string, key: string) => `left(${text}, strpos(${text}, '${key}') - 1) || '}'`
const metadata = ',"metadata":'
export const headBegun = `CASE WHEN octet_length(begun) <= ${usualBegun} OR strpos(left(begun, 4096), '${metadata}') = 0
  THEN begun ELSE ${cutAt('left(begun, 4096)', metadata)} END`
const headEnded = `CASE WHEN octet_length(ended) <= ${usualEnded} THEN ended
  WHEN strpos(ended, ',"waiting":[') > 0 THEN NULL
  WHEN strpos(ended, ',"sources":[') BETWEEN 1 AND ${largestEnded} THEN ${cutAt('ended', ',"sources":[')}
  WHEN octet_length(ended) <= ${largestEnded} THEN ended END`
const headsWith = (ended: string) =>
  `${plainColumns}, ${headBegun} AS begun, ${ended} AS ended, octet_length(ended) AS ended_bytes`
export const headColumns = headsWith(headEnded)
/** With the whole end. */
export const largeHeadColumns = headsWith('ended')

/** `whole`: includes what only the run may see. */
export function toRecord(row: RecordColumns, whole = false): RunRecord {
  const input: MessageRow[] = JSON.parse(row.input)
  if (row.unchecked) for (const message of input) message[4] = 'unchecked'
  return toRunRecord([row.run_number, toRunRow(row), input, parsed(row.output), parsed(row.given)], whole)
}

/** The same for a copy. */
export function toCopied(row: RecordColumns): RunRecord {
  return withLater(toRecord(row), JSON.parse(row.begun), parsed(row.ended))
}

/** Undefined: the texts were left out. */
export function toSmallRecord(row: SizedColumns): RunRecord | undefined {
  return row.begun === null ? undefined : toRecord(row as RecordColumns)
}

export function toHead(row: HeadColumns): RunHead {
  return toRunRecord([row.run_number, toRunRow(row), [], null])
}

const listedCharacters = 10_000

/** As a list shows it: a long error is cut. */
export function toListed(row: HeadColumns): Run {
  const run = toRun(toRunRow(row))
  if (run.error === null || (row.ended_bytes ?? 0) <= usualEnded || run.error.message.length <= listedCharacters)
    return run
  const message = [...run.error.message].slice(0, listedCharacters).join('')
  return { ...run, error: { ...run.error, message } }
}

function toRunRow(row: RunColumns): RunRow {
  const begun = JSON.parse(row.begun)
  if (row.started_at !== null) begun.started_at = row.started_at
  return [
    row.run_id,
    row.session_id,
    row.parent_run_id,
    row.entity_id,
    row.status,
    row.user_id,
    row.truncated ? 1 : 0,
    row.replaced_by,
    row.follows,
    begun,
    parsed(row.ended),
  ]
}

function parsed<T>(text: string | null): T | null {
  return text === null ? null : JSON.parse(text)
}

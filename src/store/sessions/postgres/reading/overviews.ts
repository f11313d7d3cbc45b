import type { EntityKind, ModelUsage, RunStatus } from '../../../../core/run.ts'
import type { SessionOverview, SessionOwners } from '../../../../core/session.ts'
import { forkedFrom, titleCharacters, titleOfJson } from '../../../rules/overview.ts'
import { overviewOf, type TurnFields, toUsage, type UsageFields } from '../../../rules/overview-fields.ts'
import { sumByModel, usageOf } from '../../../rules/session-usage.ts'
import { BatchedReads } from '../../rows/batched-reads.ts'
import { selectReach } from './handovers.ts'
import { perRequest, type Reader, type Requested, wholeHeads } from './records.ts'
import { type HeadColumns, headBegun, headColumns, toListed } from './rows.ts'
import { isReadable, lastTurn, turnOf } from './turns.ts'

/** What lists show of sessions. A title comes from the input, so that it can never say what the input no longer does. */

/** Texts that are larger are read by themselves. */
const largestText = 32 * 1024
/** Empty instead of a large text. */
const unlessLarge = (text: string) => `CASE WHEN octet_length(${text}) <= ${largestText} THEN ${text} ELSE '' END`

const completedAt = `substring(left(ended, 100) FROM '^\\{"completed_at":"([^"]*)"')`
const turnFields = `json_build_array(run_number, status, entity_id, entity_kind,
  CASE WHEN status = 'input_required' THEN ${unlessLarge('ended')} END, ${completedAt}, ${headBegun})`
type LastTurn = [
  runNumber: number,
  status: RunStatus,
  entityId: string,
  entityKind: EntityKind,
  ended: string | null,
  completedAt: string | null,
  begun: string,
]

const begin = `left(input, ${titleCharacters})`
const inputFields = `json_build_array(${begin}, octet_length(input) <= octet_length(${begin}), unchecked)`
type FirstInput = [begin: string, isWhole: boolean, isUnchecked: boolean]

const storedSums = `(SELECT coalesce(json_agg(json_build_array(nullif(model, ''), input_tokens, output_tokens, total_tokens,
    CASE WHEN cached_input_runs > 0 THEN cached_input_tokens END, CASE WHEN cache_write_runs > 0 THEN cache_write_tokens END,
    CASE WHEN reasoning_runs > 0 THEN reasoning_tokens END, largest_input_tokens, nullif(unreported_calls, 0))
    ORDER BY model), '[]')
  FROM session_usage WHERE session_usage.session_id = session.session_id)`

interface PartColumns {
  run_count: number
  last_turn: LastTurn | null
  first_input: FirstInput | null
}

interface OverviewColumns extends PartColumns, SessionOwners {
  session_id: string
  name: string | null
  created_at: string
  updated_at: string
  /** Metadata that name a fork; most don't. Empty: they are large. */
  fork: string | null
  sums: UsageFields[]
}

const firstInput = turnOf(inputFields, 'session.session_id', 'turn.replaced_by IS NULL', 'ASC')

const selectOverviews = `${perRequest(`SELECT session_id, name, agent_id, team_id, workflow_id, user_id, run_count,
    created_at, updated_at, CASE WHEN strpos(metadata, '"forked_from"') > 0 THEN ${unlessLarge('metadata')} END AS fork,
    ${lastTurn(turnFields)} AS last_turn, ${firstInput} AS first_input, ${storedSums} AS sums
  FROM session WHERE session_id = request.id LIMIT 1`)} ORDER BY request.place`

/** Of the session $1 up to the turn that the earlier user $2 may read. */
const selectPart = `SELECT reach, ${turnOf(turnFields, '$1', isReadable('reach'), 'DESC')} AS last_turn,
  ${turnOf(inputFields, '$1', isReadable('reach'), 'ASC')} AS first_input,
  (SELECT count(*) FROM run WHERE session_id = $1 AND parent_run_id IS NULL AND run_number <= reach) AS run_count
  FROM (${selectReach}) AS reader`

/** Overviews of whole sessions; those of one turn share a statement. */
export function overviewReads(sql: Reader): (sessionId: string) => Promise<SessionOverview | undefined> {
  const reads = new BatchedReads((ids) => sql.all<OverviewColumns & Requested>(selectOverviews, [ids]))
  return async (sessionId) => {
    const [row] = await reads.read(sessionId)
    return row && toOverview(sql, row)
  }
}

/** In this order, without sessions that are gone or that the user may not read. */
export async function readOverviews(sql: Reader, ids: readonly string[], userId?: string): Promise<SessionOverview[]> {
  const overviews: SessionOverview[] = []
  for (const row of await sql.all<OverviewColumns & Requested>(selectOverviews, [ids])) {
    const found =
      userId === undefined || row.user_id === userId ? await toOverview(sql, row) : await readPart(sql, row, userId)
    if (found !== undefined) overviews.push(found)
  }
  return overviews
}

async function toOverview(sql: Reader, row: OverviewColumns): Promise<SessionOverview> {
  const usage = row.sums.map(toUsage)
  const fork = row.fork === '' ? await readMetadata(sql, row.session_id) : row.fork
  const { forked_from } = fork === null ? {} : JSON.parse(fork)
  return { ...(await common(sql, row, row, usage)), name: row.name, forked_from: forkedFrom(forked_from) }
}

/** As an earlier user may read it; undefined for a stranger. */
async function readPart(sql: Reader, row: OverviewColumns, userId: string): Promise<SessionOverview | undefined> {
  const [part] = await sql.all<PartColumns & { reach: number }>(selectPart, [row.session_id, userId])
  if (part === undefined) return undefined
  const overview = await common(sql, row, part, await readUsage(sql, row.session_id, part.reach))
  const [, , , , , completed, begun] = part.last_turn ?? []
  const started = begun === undefined ? row.created_at : JSON.parse(begun).created_at
  return { ...overview, updated_at: completed ?? started }
}

/** What present and earlier users see alike. */
async function common(
  sql: Reader,
  row: OverviewColumns,
  { run_count, last_turn, first_input }: PartColumns,
  usage: ModelUsage[],
): Promise<SessionOverview> {
  const { session_id, agent_id, team_id, workflow_id, user_id, created_at, updated_at } = row
  const [text, isWhole, isUnchecked] = first_input ?? []
  return overviewOf({
    ...{ session_id, agent_id, team_id, workflow_id, user_id, created_at, updated_at, run_count },
    title: text === undefined || isUnchecked === true ? null : titleOfJson(text, isWhole === true),
    usage_by_model: usage,
    last_turn: last_turn && (await toTurnFields(sql, last_turn)),
  })
}

async function toTurnFields(sql: Reader, turn: LastTurn): Promise<TurnFields> {
  const [runNumber, status, entityId, kind, shown, completed, begun] = turn
  const ended = shown === '' ? await readEnd(sql, runNumber) : shown
  const { waiting } = ended === null ? {} : JSON.parse(ended)
  return [status, entityId, kind, waiting?.length ?? 0, completed, JSON.parse(begun).created_at]
}

async function readMetadata(sql: Reader, sessionId: string): Promise<string | null> {
  const select = 'SELECT metadata FROM session WHERE session_id = $1'
  return (await sql.all<{ metadata: string | null }>(select, [sessionId]))[0]?.metadata ?? null
}

async function readEnd(sql: Reader, runNumber: number): Promise<string | null> {
  const select = 'SELECT ended FROM run WHERE run_number = $1'
  return (await sql.all<{ ended: string | null }>(select, [runNumber]))[0]?.ended ?? null
}

const turnsAtOnce = 1_000
const selectEnded = `SELECT ${headColumns} FROM run WHERE session_id = $1 AND run_number <= $2 AND run_number > $3
  AND parent_run_id IS NULL AND ended IS NOT NULL ORDER BY run_number LIMIT ${turnsAtOnce}`

/** The sums of the turns up to a run number. */
async function readUsage(sql: Reader, sessionId: string, reach: number): Promise<ModelUsage[]> {
  let sums: ModelUsage[] = []
  for (let after = 0; ; ) {
    const rows = await sql.all<HeadColumns>(selectEnded, [sessionId, reach, after])
    const runs = (await wholeHeads(sql, rows)).map(toListed)
    sums = sumByModel([...sums, ...runs.flatMap((run) => usageOf(run))])
    after = rows.at(-1)?.run_number ?? after
    if (rows.length < turnsAtOnce) return sums
  }
}

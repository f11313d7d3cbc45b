import type { SessionOverview } from '../../../../core/session.ts'
import { forkedFrom, titleCharacters, titleOfJson } from '../../../rules/overview.ts'
import { overviewOf, type TurnFields, toUsage, type UsageFields } from '../../../rules/overview-fields.ts'
import type { SqlRow, SqlValue } from '../../../sqlite/connection.ts'
import { isReadable, reachOf } from './handovers.ts'
import { lastTurn, turnOf } from './queries.ts'
import type { All } from './records.ts'

/** What lists show of sessions. A title comes from the input, so that it can never say what the input no longer does. */

const turnFields = `json_array(status, entity_id, begun ->> '$.entity_kind',
  iif(status = 'input_required', json_array_length(ended, '$.waiting'), 0), ended ->> '$.completed_at', begun ->> '$.created_at')`

// The last bytes tell whether only the run may see the input; see `MessageRow`.
const mark = '"unchecked"]]'
const inputFields = `json_array(substr(input, 1, ${titleCharacters}), octet_length(input) > octet_length(substr(input, 1, ${titleCharacters})),
  substr(CAST(input AS BLOB), -${mark.length}) = CAST('${mark}' AS BLOB))`
type InputFields = [begin: string, isCut: 0 | 1, isUnchecked: 0 | 1]

/** Sums in the order of `UsageFields`. */
const storedSums = `(SELECT json_group_array(json_array(nullif(usage_model, ''), input_tokens, output_tokens, total_tokens,
    iif(cached_input_runs > 0, cached_input_tokens, NULL), iif(cache_write_runs > 0, cache_write_tokens, NULL),
    iif(reasoning_runs > 0, reasoning_tokens, NULL), largest_input_tokens, nullif(unreported_calls, 0)) ORDER BY usage_model)
  FROM session_usage WHERE usage_session_id = session_id)`

const used = (field: string) => `value ->> '$.${field}'`
/** The same sums from the turns themselves; `which`: SQL about runs. */
const countedSums = (which: string) => `(SELECT json_group_array(json(sums) ORDER BY used_model) FROM (
  SELECT ifnull(${used('model')}, '') AS used_model, json_array(${used('model')}, ${[
    'input',
    'output',
    'total',
    'cached_input',
  ]
    .map((name) => `sum(${used(`${name}_tokens`)})`)
    .join(', ')}, sum(${used('cache_write_tokens')}), sum(${used('reasoning_tokens')}),
    max(iif(${used('model')} IS NULL, NULL, ifnull(${used('largest_input_tokens')},
      iif(${used('unreported_calls')} IS NULL, ${used('input_tokens')}, NULL)))), sum(${used('unreported_calls')})) AS sums
  FROM runs CROSS JOIN json_each(iif(json_array_length(ended, '$.usage_by_model') > 0, ended -> '$.usage_by_model',
    iif(ended -> '$.usage' IS NULL, '[]', json_array(ended -> '$.usage'))))
  WHERE parent_run_id IS NULL AND ended IS NOT NULL AND ${which} GROUP BY used_model))`

const ownFields = 'session_id, name, agent_id, team_id, workflow_id, user_id, run_count, created_at, updated_at'
// Most metadata names no fork and need not be parsed.
const fork = `iif(instr(metadata, '"forked_from"') > 0, metadata -> '$.forked_from', NULL) AS fork`

/** Parameter: the ids, as JSON. */
export const selectOverviews = `SELECT request.key AS request_key, ${ownFields}, ${fork}, ${lastTurn(turnFields)} AS last_turn,
    ${turnOf(inputFields, 'session_id', 'replaced_by IS NULL', 'ASC')} AS first_input, ${storedSums} AS sums
  FROM json_each(?) AS request CROSS JOIN sessions ON session_id = request.value ORDER BY request.key`

const readable = isReadable('?2')
/** Of the session ?1 up to the run number ?2. */
const selectPart = `SELECT ${turnOf(turnFields, '?1', readable, 'DESC')} AS last_turn,
  ${turnOf(inputFields, '?1', readable, 'ASC')} AS first_input,
  (SELECT count(*) FROM runs WHERE run_session_id = ?1 AND parent_run_id IS NULL AND run_number <= ?2) AS run_count,
  ${countedSums('run_session_id = ?1 AND run_number <= ?2')} AS sums`

/** In this order, without sessions that are gone or that the user may not read. */
export async function readOverviews(all: All, ids: readonly string[], userId?: string): Promise<SessionOverview[]> {
  const overviews: SessionOverview[] = []
  for (const row of await all(selectOverviews, [JSON.stringify(ids)])) {
    if (userId === undefined || row.user_id === userId) {
      overviews.push(toOverview(row))
      continue
    }
    const reach = await reachOf(all, row.session_id as string, userId)
    const [part] = reach === undefined ? [] : await all(selectPart, [row.session_id as string, reach])
    if (part === undefined) continue
    const [, , , , completedAt, createdAt] = turnIn(part) ?? [null, null, null, null, null, row.created_at as string]
    overviews.push({ ...common({ ...row, ...part }), updated_at: completedAt ?? createdAt })
  }
  return overviews
}

/** The whole session, from a row of `selectOverviews`. */
export function toOverview(row: SqlRow): SessionOverview {
  return { ...common(row), name: row.name as string | null, forked_from: forkedFrom(parsed(row.fork)) }
}

/** What present and earlier users see alike. */
function common(row: SqlRow): SessionOverview {
  return overviewOf({
    session_id: row.session_id as string,
    agent_id: row.agent_id as string | null,
    team_id: row.team_id as string | null,
    workflow_id: row.workflow_id as string | null,
    user_id: row.user_id as string | null,
    run_count: row.run_count as number,
    created_at: row.created_at as string,
    updated_at: row.updated_at as string,
    last_turn: turnIn(row),
    title: titleIn(parsed(row.first_input) as InputFields | null),
    usage_by_model: (parsed(row.sums) as UsageFields[]).map(toUsage),
  })
}

function turnIn(row: SqlRow): TurnFields | null {
  return parsed(row.last_turn) as TurnFields | null
}

function titleIn(input: InputFields | null): string | null {
  if (input === null) return null
  const [begin, isCut, isUnchecked] = input
  return isUnchecked === 1 ? null : titleOfJson(begin, isCut === 0)
}

function parsed(text: SqlValue | undefined): unknown {
  return typeof text === 'string' ? JSON.parse(text) : null
}

import { isTurn, type ModelUsage, type RunRecord } from '../../../../core/run.ts'
import { usageOf } from '../../../rules/session-usage.ts'
import { counted, type UsageRow, usageRow } from '../../../rules/usage-rows.ts'
import type { Connection } from '../../../sqlite/connection.ts'

/* Keeps the sums of what the turns of a session used, in the commit of the end that reports it. */

const counts = counted.map((name) => (name === 'runs' ? 'usage_runs' : name))
const columns = ['usage_session_id', 'usage_model', ...counts, 'largest_input_tokens']

/** `from`: SQL that gives rows as JSON arrays in `value`, and the id of their session as `session`. */
export const addToSums = (session: string, from: string) => `INSERT INTO session_usage (${columns.join(', ')})
    SELECT ${[session, ...columns.slice(1).map((_, place) => `value ->> ${place + 1}`)].join(', ')} ${from}
    ON CONFLICT (usage_session_id, usage_model) DO UPDATE SET
      ${counts.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')},
      largest_input_tokens = coalesce(max(largest_input_tokens, excluded.largest_input_tokens),
        largest_input_tokens, excluded.largest_input_tokens)`

const addRows = addToSums('value ->> 0', 'FROM json_each(?) WHERE true')

/** Of turns that were written outside of a batch. The keys of the rows are the ids of their sessions. */
export async function addUsageRows(writer: Connection, rows: readonly UsageRow[]): Promise<void> {
  if (rows.length > 0) await writer.run(addRows, [JSON.stringify(rows)])
}

export async function addUsage(writer: Connection, sessionId: string, used: readonly ModelUsage[]): Promise<void> {
  await addUsageRows(
    writer,
    used.map((one) => usageRow(sessionId, one)),
  )
}

/** Before a run that called models runs again or ends otherwise. */
export async function takeBackUsage(writer: Connection, run: RunRecord): Promise<void> {
  const used = isTurn(run) ? usageOf(run) : []
  if (used.length === 0) return
  await addUsageRows(
    writer,
    used.map((one) => usageRow(run.session_id, one, -1)),
  )
  await writer.run('DELETE FROM session_usage WHERE usage_session_id = ? AND usage_runs <= 0', [run.session_id])
}

/** With the sessions. */
export async function deleteUsage(writer: Connection, sessionIds: string): Promise<void> {
  await writer.run('DELETE FROM session_usage WHERE usage_session_id IN (SELECT value FROM json_each(?))', [sessionIds])
}

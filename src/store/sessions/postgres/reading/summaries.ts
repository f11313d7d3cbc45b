import type { Summary } from '../../../../core/summary.ts'
import type { Reader } from './records.ts'

/** A `Summary`, whose content is JSON: see `toSummary`. */
export const selectSummary = (session: string) =>
  `SELECT session_id, content, model, run_count, message_count, created_at FROM summary
   WHERE summary.session_id = ${session}`

const selectOne = selectSummary('$1')

export async function findSummary(sql: Reader, sessionId: string): Promise<Summary | undefined> {
  const [row] = await sql.all<Summary>(selectOne, [sessionId])
  return row && toSummary(row)
}

export function toSummary(row: Summary): Summary {
  return { ...row, content: JSON.parse(row.content) }
}

const selectJobs = `SELECT session_id FROM summary_job LEFT JOIN instance ON instance_key = summary_job.owner
  WHERE summary_job.owner IS NULL OR summary_job.owner = $1 OR instance_key IS NULL OR dead_at IS NOT NULL
    OR left_at IS NOT NULL
  ORDER BY scheduled_at, session_id`

/** The jobs that nobody else who is alive has, oldest first. `own`: this process's key. */
export async function listSummaryJobs(sql: Reader, own: number | undefined): Promise<string[]> {
  const rows = await sql.all<{ session_id: string }>(selectJobs, [own ?? null])
  return rows.map(({ session_id }) => session_id)
}

import type { OwnerKind, SessionCopy, SessionHead, SessionRecord } from '../../../core/session.ts'
import type { Sql } from '../../postgres/connection.ts'
import { counted as countedColumns, type UsageSums } from '../../rules/usage-rows.ts'
import { addOwners, getSession, insertSession } from './session-rows.ts'
import { addSummary } from './summaries.ts'

/** What the runs of a copy add up to. */
export interface Counted {
  turns: number
  usage: UsageSums
}

/** Writes the session itself when its runs are stored. Throws `conflict` when the id has been taken meanwhile. */
export async function finishCopy(sql: Sql, head: SessionHead, { turns, usage }: Counted): Promise<SessionRecord> {
  const { session, summary } = head
  const id = session.session_id
  await insertSession(sql, session, { updatedAt: session.updated_at, runCount: turns })
  const { agent_ids, team_ids, workflow_ids, user_ids } = session.shared_with
  const earlier = { agent: agent_ids, team: team_ids, workflow: workflow_ids, user: user_ids }
  for (const [kind, owners] of Object.entries(earlier) as [OwnerKind, string[]][]) {
    for (const owner of owners) await addOwners(sql, id, [[kind, owner]], session.updated_at)
  }
  await restoreHandovers(sql, head)
  if (summary !== null) await addSummary(sql, { ...summary, session_id: id })
  await insertUsage(sql, id, usage)
  return getSession(sql, id)
}

/** What the copy does not say is derived from the users' own runs. */
async function restoreHandovers(
  sql: Sql,
  { session: { session_id: id, shared_with }, handovers = {} }: Pick<SessionCopy, 'session' | 'handovers'>,
): Promise<void> {
  for (const user of shared_with.user_ids) {
    const said = Object.hasOwn(handovers, user)
    await sql.run(
      `UPDATE session_owner SET read_until = (SELECT max(run_number) FROM run
         WHERE run.session_id = $1 AND parent_run_id IS NULL AND ${said ? 'run_id' : 'user_id'} = $2)
       WHERE session_id = $1 AND kind = 'user' AND owner_id = $3`,
      [id, said ? (handovers[user] ?? null) : user, user],
    )
  }
}

const usageColumns = ['session_id', 'model', ...countedColumns, 'largest_input_tokens']
const insertSums = `INSERT INTO session_usage (${usageColumns.join(', ')})
  VALUES (${usageColumns.map((_, place) => `$${place + 1}`).join(', ')})`

async function insertUsage(sql: Sql, sessionId: string, usage: UsageSums): Promise<void> {
  for (const row of usage.rowsOf(sessionId)) await sql.run(insertSums, row)
}

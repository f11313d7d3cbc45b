import type { RunStatus } from '../../../../../src/core/run.ts'
import type { Connection } from '../../../../../src/store/postgres/connection.ts'
import { begunOf, messagesOf } from '../../../../../src/store/sessions/rows/rows.ts'
import { at, messageOf, startOf } from '../../../../contract/session-store/builders.ts'

interface SeedRun {
  session?: string
  said: string
  answer?: string
  status?: RunStatus
  unchecked?: boolean
  parent?: string
}

/** Puts a run into the tables, past the store; gives its number. */
export async function seedRun(sql: Connection, run: SeedRun): Promise<number> {
  const { session = 's', said, answer, status = 'completed', unchecked = false, parent = null } = run
  await sql.run(
    `INSERT INTO session (session_id, created_at, updated_at, revision, run_count) VALUES ($1, $2, $2, 1, 1)
     ON CONFLICT DO NOTHING`,
    [session, at(0)],
  )
  const record = startOf({ run: { session_id: session } }).run
  const output = answer === undefined ? null : messagesOf([messageOf(record.run_id, 'assistant', answer)])
  const input = messagesOf([messageOf(record.run_id, 'user', said)])
  const [row] = await sql.all<{ run_number: number }>(
    `INSERT INTO run (run_id, session_id, entity_id, entity_kind, status, parent_run_id, unchecked, owner, fence,
       reserve_until, recorded_seq, begun, input, output)
     VALUES ($1, $2, 'echo', 'agent', $3, $4, $5, 1, 1, 1000, 1, $6, $7, $8) RETURNING run_number`,
    [record.run_id, session, status, parent, unchecked, begunOf(record), input, output],
  )
  return row?.run_number as number
}

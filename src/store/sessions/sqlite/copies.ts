import { AppError } from '../../../core/error.ts'
import type { OwnerKind, SessionHead, SessionRecord } from '../../../core/session.ts'
import type { Connection, SqlValue } from '../../sqlite/connection.ts'
import { copyFiles, writePiece } from './files/save.ts'
import { type CopyStep, copiedRunColumns } from './hidden/copy-steps.ts'
import { restoreHandovers } from './reading/handovers.ts'
import { namesOf } from './schema/columns.ts'
import { hide, isHidden, unhide } from './schema/hidden.ts'
import { runs } from './schema/schema.ts'
import { addOwners, getSession, insertSession } from './sessions.ts'
import { addSummary } from './summaries.ts'
import { addUsageRows } from './writing/usage.ts'

/** Restores whole sessions in steps. They are marked as hidden until the last step removes the mark. */

/** A larger row is bound by itself: as part of a JSON document it would be copied several times. */
const largeCharacters = 64 * 1024
const places = (columns: readonly unknown[]) => columns.map(() => '?').join(', ')
const values = (columns: readonly unknown[]) => columns.map((_, index) => `value ->> ${index}`).join(', ')
const insertRuns = `INSERT INTO runs (${namesOf(runs, copiedRunColumns).join(', ')})`

/** Throws `conflict` when the id is taken. */
export async function beginCopy(writer: Connection, sessionId: string): Promise<void> {
  await assertFree(writer, sessionId)
  await hide(writer, [sessionId])
}

async function assertFree(writer: Connection, sessionId: string): Promise<void> {
  const taken = await writer.all('SELECT 1 FROM sessions WHERE session_id = ?', [sessionId])
  if (taken.length === 0 && !(await isHidden(writer, sessionId))) return
  throw new AppError('conflict', `Session '${sessionId}' already exists.`)
}

export async function writeStep(
  writer: Connection,
  sessionId: string,
  { runs, events, files, pieces }: CopyStep,
): Promise<void> {
  const ids = JSON.stringify(runs.map(([runId]) => runId))
  const [taken] = await writer.all('SELECT run_id FROM json_each(?) CROSS JOIN runs ON run_id = value LIMIT 1', [ids])
  if (taken !== undefined) throw new AppError('conflict', `Run '${String(taken.run_id)}' already exists.`)
  // In the order of the conversation.
  let small: SqlValue[][] = []
  const writeSmall = async () => {
    if (small.length === 0) return
    const rows = JSON.stringify(small)
    small = []
    await writer.run(`${insertRuns} SELECT ${values(copiedRunColumns)} FROM json_each(?) ORDER BY key`, [rows])
  }
  for (const row of runs) {
    if (!row.some((value) => typeof value === 'string' && value.length > largeCharacters)) small.push(row)
    else {
      await writeSmall()
      await writer.run(`${insertRuns} VALUES (${places(copiedRunColumns)})`, row)
    }
  }
  await writeSmall()
  await writer.run(
    `INSERT INTO events (event_run_number, first_seq, batch)
     SELECT run_number, value ->> 1, value ->> 2 FROM json_each(?) CROSS JOIN runs ON run_id = value ->> 0`,
    [events],
  )
  await copyFiles(writer, sessionId, files)
  for (const { hash, piece, bytes } of pieces) await writePiece(writer, hash, piece, bytes)
}

/** What the steps of a copy count. */
export type Counted = Pick<CopyStep, 'turns' | 'usage'>

/** Writes the session itself and makes it visible. */
export async function finishCopy(
  writer: Connection,
  head: SessionHead,
  { turns, usage }: Counted,
): Promise<SessionRecord> {
  const { session, summary } = head
  const id = session.session_id
  await insertSession(writer, session, { updatedAt: session.updated_at, runCount: turns })
  const { agent_ids, team_ids, workflow_ids, user_ids } = session.shared_with
  const earlier = { agent: agent_ids, team: team_ids, workflow: workflow_ids, user: user_ids }
  for (const [kind, owners] of Object.entries(earlier) as [OwnerKind, string[]][]) {
    for (const owner of owners) await addOwners(writer, id, [[kind, owner]], session.updated_at)
  }
  await restoreHandovers(writer, head)
  if (summary !== null) await addSummary(writer, { ...summary, session_id: id })
  await addUsageRows(writer, usage.rowsOf(id))
  await unhide(writer, [id])
  return getSession(writer, id)
}

/** For a copy that is small enough for one commit. */
export async function writeAtOnce(writer: Connection, head: SessionHead, step: CopyStep): Promise<SessionRecord> {
  await assertFree(writer, head.session.session_id)
  await writeStep(writer, head.session.session_id, step)
  return finishCopy(writer, head, step)
}

import type { RunResume, RunResumed } from '../../../../core/run-write.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { mayResume } from '../../../rules/run-rules.ts'
import { encodeLargeBatch } from '../../rows/event-batch.ts'
import type { Database } from '../database.ts'
import { assertMayWrite, hasTurn, lockRun, touch } from './look.ts'
import { failureCode } from './persistence.ts'
import { reopen } from './reopen.ts'
import { writeBatch } from './settle-end.ts'

/** `again`: it was asked for before, and may have been written. */
export async function resumeRun(database: Database, resume: RunResume, again: boolean): Promise<RunResumed> {
  const key = await database.owners.keyOf(resume.owner)
  try {
    const resumed = await database.work((sql) => goOn(sql, resume, { key, again }))
    if (resumed.outcome === 'resumed') database.commits.recorded(resume.run_id)
    return resumed
  } catch (error) {
    // Another run of the session began at this moment.
    if (failureCode(error) === '23505') return { outcome: 'busy' }
    throw error
  }
}

async function goOn(sql: Sql, resume: RunResume, { key, again }: { key: number; again: boolean }): Promise<RunResumed> {
  const { run_id: runId, at, events, reserve_until } = resume
  const run = await lockRun(sql, runId)
  if (run === undefined) return { outcome: 'missing' }
  const isMine = run.status === 'running' && run.owner === key && run.recorded_seq === events.at(-1)?.seq
  if (again && isMine) return { outcome: 'resumed', fence: run.fence }
  if (!mayResume(run, resume.end_seq) || run.replaced_by !== null) return { outcome: 'moved_on' }
  if (run.parent_run_id === null && (await hasTurn(sql, run.session_id, 'running'))) return { outcome: 'busy' }
  await assertMayWrite(sql, key)
  const fence = run.fence + 1
  await reopen(sql, runId)
  await sql.run(
    `UPDATE run SET status = 'running', owner = $2, fence = $3, reserve_until = greatest(reserve_until, $4) WHERE run_id = $1`,
    [runId, key, fence, reserve_until],
  )
  const batch = { run_id: runId, fence, reserve_until }
  await writeBatch(sql, run, batch, await encodeLargeBatch(events, run.recorded_seq), false)
  if (!run.is_try) await touch(sql, run.session_id, at)
  return { outcome: 'resumed', fence }
}

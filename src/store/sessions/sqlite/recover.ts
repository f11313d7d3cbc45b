import { RunFold } from '../../../core/events/fold.ts'
import { createId } from '../../../core/id.ts'
import type { ModelUsage, Run } from '../../../core/run.ts'
import type { Recovered } from '../../../core/store.ts'
import { maxRecoveredCharacters } from '../../rules/run-rules.ts'
import { usageOf } from '../../rules/session-usage.ts'
import type { Connection } from '../../sqlite/connection.ts'
import { readBatches } from '../rows/batches.ts'
import { endedOf, messagesOf, type RecordRow, toRun } from '../rows/rows.ts'
import { deleteExpired } from './expiry.ts'
import { deleteLeftFiles } from './files/delete.ts'
import { batchSource } from './reading/events.ts'
import { selectRunHeads } from './reading/queries.ts'
import { type All, readRecord } from './reading/records.ts'
import { isShown } from './schema/hidden.ts'
import { refuseRuns } from './writing/refuse.ts'
import { touch } from './writing/single-write.ts'
import { bringBack } from './writing/turns.ts'
import { addUsage } from './writing/usage.ts'

const selectOrphans = `SELECT run_id, run_session_id, status, begun ->> 'background' AS background, fence, reserve_until,
    parent_run_id IS NULL AS is_turn, begun ->> '$.again_of.keep' AS keep,     input ->> '$[0][4]' AS mark
  FROM runs
  WHERE status IN ('running', 'queued') AND owner <> ? AND ${isShown} ORDER BY run_number`

/** Ends or releases what an earlier process left unfinished, in one transaction of the writer. */
export async function recover(writer: Connection, owner: string, at: string, now: string): Promise<Recovered> {
  await deleteExpired(writer, now, -1)
  await writer.run('DELETE FROM claims WHERE claim_run_id IS NULL AND answer IS NULL')
  await deleteLeftFiles(writer)
  const all: All = (sql, params) => writer.all(sql, params)
  const interrupted: Run[] = []
  const queued: Recovered['queued'] = []
  for (const orphan of await writer.all(selectOrphans, [owner])) {
    const runId = orphan.run_id as string
    const fence = (orphan.fence as number) + 1
    await writer.run('UPDATE runs SET owner = ?, fence = ? WHERE run_id = ?', [owner, fence, runId])
    const waits = orphan.status === 'queued' && orphan.background === 1
    if (!waits) {
      const endSeq = (orphan.reserve_until as number) + 1
      const { isSilent, used } = await interrupt(writer, runId, orphan.status === 'running', endSeq, at)
      if (orphan.is_turn === 1) await addUsage(writer, orphan.run_session_id as string, used)
      if (isSilent) await bringBack(writer, runId, orphan.run_session_id as string, at)
      if (orphan.mark !== null) await refuseRuns(writer, [runId])
      if (orphan.keep !== 'no') await touch(writer, orphan.run_session_id as string, at)
    }
    if (waits) {
      const run = await readRecord(all, runId, true)
      if (run !== undefined) queued.push({ run, fence, ...(orphan.mark !== null && { unchecked: true }) })
      continue
    }
    const [head] = await all(selectRunHeads, [JSON.stringify([runId])])
    if (head !== undefined) interrupted.push(toRun((JSON.parse(head.record_row as string) as RecordRow)[1]))
  }
  return { interrupted, queued }
}

/** Gives what it used, and whether it said nothing. */
async function interrupt(
  writer: Connection,
  runId: string,
  truncated: boolean,
  endSeq: number,
  at: string,
): Promise<{ isSilent: boolean; used: readonly ModelUsage[] }> {
  const fold = new RunFold(maxRecoveredCharacters)
  const all: All = (sql, params) => writer.all(sql, params)
  for await (const { events } of readBatches(batchSource(all, runId), 0)) fold.addRecorded(events)
  const ended = endedOf({
    sources: fold.sources,
    ...fold.used(),
    completed_at: at,
    end_seq: endSeq,
    cancellation_reason: null,
    error: null,
    cache_hit: false,
  })
  const messages = fold.messages(runId, createId('msg'), at)
  await writer.run(`UPDATE runs SET status = 'interrupted', truncated = ?, ended = ?, output = ? WHERE run_id = ?`, [
    truncated ? 1 : 0,
    ended,
    messages.length === 0 ? null : messagesOf(messages),
    runId,
  ])
  return { isSilent: messages.length === 0, used: usageOf(fold.used()) }
}

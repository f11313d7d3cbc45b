import type { RunEvent } from '../../core/event.ts'
import type { Run } from '../../core/run.ts'
import type { Recovered } from '../../core/store.ts'
import { recordedOutput } from '../recorded-output.ts'
import { dropExpiredAnswers } from './answers.ts'
import { dropExpiredClaims } from './claims.ts'
import type { Connection } from './connection.ts'
import { decodeBatch } from './event-batch.ts'
import { endedOf, messagesOf, toRunRecord } from './rows.ts'
import { selectRuns } from './selects.ts'
import { touch } from './sessions.ts'

const selectOrphans = `SELECT run_id, run_session_id, status, begun ->> 'background' AS background, fence, reserve_until
  FROM runs
  WHERE status IN ('running', 'queued') AND owner <> ? ORDER BY run_number`

const selectBatches = `SELECT batch FROM events
  WHERE event_run_number = (SELECT run_number FROM runs WHERE run_id = ?) ORDER BY first_seq`

/** Puts in order what an earlier process left, in one transaction of the writer. */
export async function recover(writer: Connection, owner: string, at: string, now: string): Promise<Recovered> {
  await dropExpiredClaims(writer, now, -1)
  await dropExpiredAnswers(writer, now, -1)
  await writer.run('DELETE FROM claims WHERE claim_run_id IS NULL AND answer IS NULL')
  const interrupted: Run[] = []
  const queued: Recovered['queued'] = []
  for (const orphan of await writer.all(selectOrphans, [owner])) {
    const runId = orphan.run_id as string
    const fence = (orphan.fence as number) + 1
    await writer.run('UPDATE runs SET owner = ?, fence = ? WHERE run_id = ?', [owner, fence, runId])
    const waits = orphan.status === 'queued' && orphan.background === 1
    if (!waits) {
      await interrupt(writer, runId, orphan.status === 'running', (orphan.reserve_until as number) + 1, at)
      await touch(writer, orphan.run_session_id as string, at)
    }
    const [row] = await writer.all(selectRuns, [JSON.stringify([runId])])
    const record = toRunRecord(JSON.parse(row?.record_row as string))
    if (waits) queued.push({ run: record, fence })
    else {
      const { user_id: _user, metadata: _metadata, background: _background, ...rest } = record
      const { timeout_ms: _timeout, truncated: _truncated, end_seq: _end, messages: _m, sources: _s, ...run } = rest
      interrupted.push(run)
    }
  }
  return { interrupted, queued }
}

async function interrupt(
  writer: Connection,
  runId: string,
  truncated: boolean,
  endSeq: number,
  at: string,
): Promise<void> {
  const batches = await writer.all(selectBatches, [runId])
  const events: RunEvent[] = batches.flatMap((row) => decodeBatch(runId, row.batch as string))
  const { messages, ...output } = recordedOutput(runId, events, at)
  const ended = endedOf({
    ...output,
    completed_at: at,
    end_seq: endSeq,
    cancellation_reason: null,
    error: null,
    cache_hit: false,
  })
  await writer.run(`UPDATE runs SET status = 'interrupted', truncated = ?, ended = ?, output = ? WHERE run_id = ?`, [
    truncated ? 1 : 0,
    ended,
    messagesOf(messages),
    runId,
  ])
}

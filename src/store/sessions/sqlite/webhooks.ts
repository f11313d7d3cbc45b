import type { WebhookJob, WebhookStore } from '../../../core/triggers/webhook.ts'
import type { Connection, SqlRow } from '../../sqlite/connection.ts'

type Using = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

export function webhookStore(reading: Using, working: Using): WebhookStore {
  return {
    addWebhookJobs: (runId, webhooks, at) =>
      working(async (writer) => {
        await writer.run(add, [runId, JSON.stringify(webhooks), at])
      }),
    dropWebhookJobs: (runId) =>
      working(async (writer) => {
        await writer.run('DELETE FROM webhook_jobs WHERE webhook_run_id = ?', [runId])
      }),
    async wakeWebhookJobs(at, startedBefore, runId = '') {
      const found = await reading((connection) =>
        connection.all(`SELECT 1 FROM webhook_jobs WHERE ${isOf} AND (${hasNews} OR ${isLost}) LIMIT 1`, [
          runId,
          startedBefore,
        ]),
      )
      if (found.length === 0) return false
      return working(async (writer) => {
        await writer.run(`DELETE FROM webhook_jobs WHERE ${isOf} AND ${isLost}`, [runId, startedBefore])
        const woken = `UPDATE webhook_jobs SET webhook_due_at = ?2 WHERE ${isOf} AND ${hasNews}`
        return (await writer.run(woken, [runId, at])) > 0
      })
    },
    async takeWebhookJobs(webhooks, at, until, limit) {
      const names = JSON.stringify(webhooks)
      const [found] = await reading((connection) =>
        connection.all(`SELECT 1 FROM webhook_jobs WHERE ${isDue} LIMIT 1`, [names, at]),
      )
      if (found === undefined) return []
      return working(async (writer) => (await writer.all(take, [names, at, until, limit])).map(toJob))
    },
    settleWebhookJob: ({ run_id, webhook, fence }, outcome) =>
      working(async (writer) => {
        const mine = 'webhook_run_id = ?1 AND webhook_name = ?2 AND webhook_fence = ?3'
        if (outcome === 'done') {
          return (await writer.run(`DELETE FROM webhook_jobs WHERE ${mine}`, [run_id, webhook, fence])) > 0
        }
        const { told_seq, attempts, due_at } = outcome
        const sql = `UPDATE webhook_jobs SET webhook_told_seq = ?4, webhook_attempts = ?5, webhook_due_at = ?6 WHERE ${mine}`
        return (await writer.run(sql, [run_id, webhook, fence, told_seq, attempts, due_at])) > 0
      }),
  }
}

const add = `INSERT INTO webhook_jobs (webhook_run_id, webhook_name, webhook_told_seq, webhook_attempts, webhook_fence,
    webhook_due_at, webhook_created_at)
  SELECT ?1, value, 0, 0, 0, NULL, ?3 FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`

const isOf = "(?1 = '' OR webhook_run_id = ?1)"
const hasNews = `webhook_due_at IS NULL AND EXISTS (SELECT 1 FROM runs WHERE run_id = webhook_run_id
  AND status NOT IN ('queued', 'running') AND ended ->> 'end_seq' > webhook_told_seq)`
const isLost = 'webhook_created_at < ?2 AND NOT EXISTS (SELECT 1 FROM runs WHERE run_id = webhook_run_id)'
const isDue = 'webhook_due_at <= ?2 AND webhook_name IN (SELECT value FROM json_each(?1))'

const take = `UPDATE webhook_jobs SET webhook_due_at = ?3, webhook_attempts = webhook_attempts + 1,
    webhook_fence = webhook_fence + 1
  WHERE (webhook_run_id, webhook_name) IN (
    SELECT webhook_run_id, webhook_name FROM webhook_jobs WHERE ${isDue} ORDER BY webhook_due_at LIMIT ?4)
  RETURNING *`

function toJob(row: SqlRow): WebhookJob {
  return {
    run_id: row.webhook_run_id as string,
    webhook: row.webhook_name as string,
    told_seq: row.webhook_told_seq as number,
    attempts: row.webhook_attempts as number,
    fence: row.webhook_fence as number,
  }
}

import type { WebhookJob, WebhookStore } from '../../../core/triggers/webhook.ts'
import { isStorable } from '../../postgres/text.ts'
import type { Database } from './database.ts'

export function webhookStore({ read, work }: Database): WebhookStore {
  return {
    async addWebhookJobs(runId, webhooks, at) {
      await work((sql) => sql.run(add, [runId, [...webhooks], at]))
    },
    async dropWebhookJobs(runId) {
      await work((sql) => sql.run('DELETE FROM webhook_job WHERE run_id = $1', [runId]))
    },
    async wakeWebhookJobs(at, startedBefore, runId) {
      if (runId !== undefined && !isStorable(runId)) return false
      const run = runId ?? null
      const found = await read.all(
        `SELECT 1 AS found FROM webhook_job AS job WHERE ${isOf} AND (${hasNews} OR ${isLost}) LIMIT 1`,
        [run, startedBefore],
      )
      if (found.length === 0) return false
      return work(async (sql) => {
        await sql.run(`DELETE FROM webhook_job AS job WHERE ${isOf} AND ${isLost}`, [run, startedBefore])
        const woken = `UPDATE webhook_job AS job SET due_at = $2 WHERE ${isOf} AND ${hasNews}`
        return (await sql.run(woken, [run, at])) > 0
      })
    },
    async takeWebhookJobs(webhooks, at, until, limit) {
      const names = [...webhooks]
      const [found] = await read.all(`SELECT 1 AS found FROM webhook_job WHERE ${isDue} LIMIT 1`, [names, at])
      if (found === undefined) return []
      return work((sql) => sql.all<WebhookJob>(take, [names, at, until, limit]))
    },
    async settleWebhookJob({ run_id, webhook, fence }, outcome) {
      const mine = 'run_id = $1 AND webhook = $2 AND fence = $3'
      const params = [run_id, webhook, fence]
      if (outcome === 'done') return (await work((sql) => sql.run(`DELETE FROM webhook_job WHERE ${mine}`, params))) > 0
      const { told_seq, attempts, due_at } = outcome
      const sql = `UPDATE webhook_job SET told_seq = $4, attempts = $5, due_at = $6 WHERE ${mine}`
      return (await work((transaction) => transaction.run(sql, [...params, told_seq, attempts, due_at]))) > 0
    },
  }
}

const add = `INSERT INTO webhook_job (run_id, webhook, told_seq, attempts, fence, created_at)
  SELECT $1, name, 0, 0, 0, $3 FROM unnest($2::text[]) AS name ON CONFLICT DO NOTHING`

const isOf = '($1::text IS NULL OR job.run_id = $1)'
const hasNews = `job.due_at IS NULL AND EXISTS (SELECT 1 FROM run WHERE run.run_id = job.run_id
  AND run.status NOT IN ('queued', 'running') AND run.end_seq > job.told_seq)`
const isLost = 'job.created_at < $2 AND NOT EXISTS (SELECT 1 FROM run WHERE run.run_id = job.run_id)'
const isDue = 'due_at <= $2 AND webhook = ANY ($1::text[])'

const take = `UPDATE webhook_job SET due_at = $3, attempts = attempts + 1, fence = fence + 1
  WHERE (run_id, webhook) IN (SELECT run_id, webhook FROM webhook_job WHERE ${isDue}
    ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED)
  RETURNING run_id, webhook, told_seq, attempts, fence`

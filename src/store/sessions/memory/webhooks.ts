import { isEnded } from '../../../core/run.ts'
import type { WebhookJob, WebhookStore } from '../../../core/triggers/webhook.ts'
import type { MemoryState } from './rows.ts'

export interface WebhookRow extends WebhookJob {
  due_at: string | null
  created_at: string
}

type Step = <T>(work: () => T) => Promise<T>

export function webhookStore({ webhookJobs, runs }: MemoryState, step: Step): WebhookStore {
  const hasNews = ({ run_id, due_at, told_seq }: WebhookRow) => {
    const run = runs.get(run_id)?.record
    return due_at === null && run !== undefined && isEnded(run.status) && (run.end_seq ?? 0) > told_seq
  }

  return {
    addWebhookJobs: (run_id, webhooks, at) =>
      step(() => {
        for (const webhook of webhooks) {
          const key = keyOf({ run_id, webhook })
          if (webhookJobs.has(key)) continue
          webhookJobs.set(key, { run_id, webhook, told_seq: 0, attempts: 0, fence: 0, due_at: null, created_at: at })
        }
      }),
    dropWebhookJobs: (runId) =>
      step(() => {
        for (const [key, { run_id }] of webhookJobs) if (run_id === runId) webhookJobs.delete(key)
      }),
    wakeWebhookJobs: (at, startedBefore, runId) =>
      step(() => {
        let woken = false
        for (const [key, row] of webhookJobs) {
          if (runId !== undefined && row.run_id !== runId) continue
          if (!runs.has(row.run_id) && row.created_at < startedBefore) webhookJobs.delete(key)
          if (!hasNews(row)) continue
          row.due_at = at
          woken = true
        }
        return woken
      }),
    takeWebhookJobs: (webhooks, at, until, limit) =>
      step(() => {
        const due = [...webhookJobs.values()].filter(
          ({ webhook, due_at }) => due_at !== null && due_at <= at && webhooks.includes(webhook),
        )
        due.sort((one, other) => ((one.due_at ?? '') < (other.due_at ?? '') ? -1 : 1))
        return due.slice(0, limit).map((row) => {
          row.due_at = until
          row.attempts++
          row.fence++
          const { due_at: _due, created_at: _created, ...job } = row
          return job
        })
      }),
    settleWebhookJob: (job, outcome) =>
      step(() => {
        const key = keyOf(job)
        const row = webhookJobs.get(key)
        if (row?.fence !== job.fence) return false
        if (outcome === 'done') webhookJobs.delete(key)
        else Object.assign(row, outcome)
        return true
      }),
  }
}

function keyOf({ run_id, webhook }: Pick<WebhookJob, 'run_id' | 'webhook'>): string {
  return JSON.stringify([run_id, webhook])
}

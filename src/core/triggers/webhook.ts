export const webhookEvents = [
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.interrupted',
  'run.input_required',
] as const
/** The end of a run, or a pause in which it waits for an approval, an input or a client tool. */
export type WebhookEvent = (typeof webhookEvents)[number]

/** A webhook of the config. */
export interface Webhook {
  name: string
  url: string
  /** Secret: the keys that sign. */
  keys: readonly Uint8Array[]
  /** Undefined: all. */
  events: readonly WebhookEvent[] | undefined
  agents: readonly string[] | undefined
  contents: boolean
  allowHttp: boolean
  allowPrivate: boolean
  timeoutMs: number
}

/** What is to be told to a webhook of the config about one run: its pauses and its end. */
export interface WebhookJob {
  run_id: string
  /** The name of the webhook. */
  webhook: string
  /** The `end_seq` of the pause that was told last; 0: nothing was. */
  told_seq: number
  /** Tries to tell what comes after it, this one included. */
  attempts: number
  /** Changes with each process that takes the job. */
  fence: number
}

/** `done`: nothing will be told any more. Else what was told, and when to try again; null: when the run has ended or paused again. */
export type WebhookOutcome = 'done' | { told_seq: number; attempts: number; due_at: string | null }

/**
 * The part of the session store that remembers what webhooks have to be told. Jobs are written before their runs, so that no end
 * is missed, and outlive every process.
 */
export interface WebhookStore {
  /** Before the start of the run. Those that are there already stay as they are. */
  addWebhookJobs(runId: string, webhooks: readonly string[], at: string): Promise<void>
  /** The run was not started. */
  dropWebhookJobs(runId: string): Promise<void>
  /**
   * Makes the jobs due whose run, or whose runs without an id, have ended or paused since they were told, and deletes those without
   * a run that were written before `startedBefore`. False: there were none.
   */
  wakeWebhookJobs(at: string, startedBefore: string, runId?: string): Promise<boolean>
  /** At most `limit` due jobs of these webhooks, the longest due first. No other process gets them before `until`. */
  takeWebhookJobs(webhooks: readonly string[], at: string, until: string, limit: number): Promise<WebhookJob[]>
  /** False: another process has taken the job meanwhile. */
  settleWebhookJob(job: WebhookJob, outcome: WebhookOutcome): Promise<boolean>
}

import { createHmac } from 'node:crypto'
import type { Json, JsonObject } from '../../core/json.ts'
import type { RunRecord } from '../../core/run.ts'
import { type Webhook, type WebhookEvent, webhookEvents } from '../../core/triggers/webhook.ts'
import type { NoticeBody } from '../notifications/notice.ts'

/** What is told of a run that has ended or paused; undefined for one that is under way. */
export function eventOf({ status }: Pick<RunRecord, 'status'>): WebhookEvent | undefined {
  return webhookEvents.find((event) => event === `run.${status}`)
}

/** The same for every try, on every instance and after a restart. */
function messageIdOf({ run_id, end_seq }: Pick<RunRecord, 'run_id' | 'end_seq'>): string {
  return `msg_${run_id}_${end_seq ?? 0}`
}

/** The request that tells it, signed as https://www.standardwebhooks.com describes. `now`: of this try. */
export function messageOf(run: RunRecord, type: WebhookEvent, { keys, contents }: Webhook, now: number): NoticeBody {
  const id = messageIdOf(run)
  const seconds = String(Math.floor(now / 1000))
  const data = { ...factsOf(run), ...(contents ? contentsOf(run) : {}) }
  const body = JSON.stringify({ type, timestamp: run.completed_at ?? run.created_at, data })
  const signatures = keys.map((key) => {
    const signed = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
    return `v1,${signed}`
  })
  return {
    contentType: 'application/json',
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') },
  }
}

/** Without what people and models have said. */
function factsOf(run: RunRecord): JsonObject {
  const { run_id, session_id, entity_id, entity_kind, status, user_id, created_at, started_at, completed_at } = run
  return {
    run_id,
    session_id,
    entity_id,
    entity_kind,
    status,
    user_id,
    created_at,
    started_at,
    completed_at,
    cancellation_reason: run.cancellation_reason,
    error: run.error && { code: run.error.code },
    usage: run.usage as unknown as Json,
    waiting: run.waiting.map(({ kind, call_id = null, tool = null }) => ({ kind, call_id, tool })),
  }
}

function contentsOf(run: RunRecord): JsonObject {
  const textOf = (role: 'user' | 'assistant') =>
    run.messages
      .filter((message) => message.role === role)
      .map(({ content }) => content)
      .join('\n\n')
  return {
    metadata: run.metadata,
    error: run.error as unknown as Json,
    waiting: run.waiting as unknown as Json,
    input: textOf('user'),
    output: textOf('assistant'),
  }
}

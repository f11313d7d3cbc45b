import { isAppError } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import { isEnded, isResumable } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import { type Clock, type Timer, type Timers, timestamp } from '../../core/time.ts'
import type { Webhook, WebhookJob, WebhookOutcome } from '../../core/triggers/webhook.ts'
import { Outbox, type Sending } from '../notifications/outbox.ts'
import type { Runs } from '../services.ts'
import { eventOf, messageOf } from './message.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
/** Between tries. After the last one the message is given up. */
const pausesMs: readonly number[] = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]
const longestAskedMs = 24 * hour
/** At once, with those that wait for their turn. */
const mostActive = 8
/** Longer than the slowest receivers need for as many. */
const leaseMs = 2 * minute

export interface DeliveryOptions {
  store: Pick<SessionStore, 'wakeWebhookJobs' | 'takeWebhookJobs' | 'settleWebhookJob'>
  runs: () => Pick<Runs, 'get'>
  clock: Clock
  timers: Timers
  logger: Logger
}

/** The messages to one webhook. What is due is in the store; this process takes a few at a time, and no other gets those. */
export class Delivery {
  readonly #options: DeliveryOptions
  readonly #outbox: Outbox
  readonly #webhook: Webhook
  readonly #active = new Set<Promise<void>>()
  #taking: Promise<void> | undefined
  #isDue = false
  #timer: Timer | undefined
  #dueMs = Number.POSITIVE_INFINITY
  #closed = false

  constructor(
    webhook: Webhook,
    options: DeliveryOptions,
    network?: ConstructorParameters<typeof Outbox>[0]['network'],
  ) {
    this.#webhook = webhook
    this.#options = options
    const { allowHttp, allowPrivate, timeoutMs } = webhook
    this.#outbox = new Outbox({
      allowHttp,
      allowPrivate,
      timeoutMs,
      hosts: [],
      network: allowPrivate ? undefined : network,
    })
  }

  /** Something may be due. `early`: also what another process has taken, or is to be tried later; that process is gone. */
  tell(early = false): void {
    if (this.#closed) return
    this.#isDue = true
    this.#taking ??= this.#take(early).finally(() => {
      this.#taking = undefined
      if (this.#isDue && this.#active.size < mostActive) this.tell()
    })
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#taking !== undefined || this.#active.size > 0) await Promise.all([this.#taking, ...this.#active])
  }

  /** Waits for what is under way, at most until the signal. What is left is sent by the next process. */
  async close(late: Promise<unknown>): Promise<void> {
    this.#closed = true
    this.#options.timers.clear(this.#timer)
    await Promise.race([this.idle(), late])
    await this.#outbox.close()
    await this.idle()
  }

  async #take(early: boolean): Promise<void> {
    const { store, clock, logger } = this.#options
    // Only before this process has taken anything: it would take that again.
    let isEarly = early && this.#active.size === 0
    try {
      while (this.#isDue && !this.#closed && this.#active.size < mostActive) {
        this.#isDue = false
        const now = clock()
        const room = mostActive - this.#active.size
        const until = timestamp(now + leaseMs)
        const asOf = timestamp(isEarly ? now + leaseMs : now)
        isEarly = false
        const jobs = await store.takeWebhookJobs([this.#webhook.name], asOf, until, room)
        for (const job of jobs) this.#begin(job)
        if (jobs.length === room) this.#isDue = true
      }
    } catch (error) {
      if (!this.#closed)
        logger.warn({ error, webhook: this.#webhook.name }, 'what a webhook is to be told can not be read')
    }
  }

  #begin(job: WebhookJob): void {
    const sending = this.#deliver(job)
      .catch((error: unknown) => {
        if (!this.#closed)
          this.#options.logger.warn({ error, ...this.#about(job) }, 'a webhook message could not be made')
      })
      .finally(() => {
        this.#active.delete(sending)
        if (this.#isDue) this.tell()
      })
    this.#active.add(sending)
  }

  async #deliver(job: WebhookJob): Promise<void> {
    const { runs, clock, store } = this.#options
    const run = await runs().get(job.run_id).catch(missing)
    if (run === undefined) return this.#settle(job, 'done')
    const event = eventOf(run)
    const seq = run.end_seq ?? 0
    const isOver = isEnded(run.status) && !isResumable(run)
    const told: WebhookOutcome = isOver ? 'done' : { told_seq: Math.max(seq, job.told_seq), attempts: 0, due_at: null }
    if (event === undefined || seq <= job.told_seq) {
      await this.#settle(job, isOver ? 'done' : { told_seq: job.told_seq, attempts: 0, due_at: null })
    } else if (this.#webhook.events?.includes(event) === false) {
      await this.#settle(job, told)
    } else {
      const { url } = this.#webhook
      const message = async () => [messageOf(run, event, this.#webhook, clock())]
      await this.#settle(job, this.#outcomeOf(job, told, await this.#outbox.send({ url, headers: {} }, message)))
    }
    // It may have gone on in the meantime.
    const now = clock()
    if (!isOver && (await store.wakeWebhookJobs(timestamp(now), timestamp(0), job.run_id))) this.tell()
  }

  #outcomeOf(
    job: WebhookJob,
    told: WebhookOutcome,
    { outcome, reason, status, retryAfterMs = 0 }: Sending,
  ): WebhookOutcome {
    const { logger, clock } = this.#options
    if (outcome === 'delivered') return told
    const { told_seq, attempts } = job
    if (this.#closed) return { told_seq, attempts: attempts - 1, due_at: timestamp(clock()) }
    const pauseMs = pausesMs[attempts - 1]
    if (pauseMs === undefined || status === 410) {
      logger.error({ ...this.#about(job), attempts, reason }, 'a webhook message was given up')
      return told
    }
    const waitMs = Math.max(pauseMs * (0.8 + 0.4 * Math.random()), Math.min(longestAskedMs, retryAfterMs))
    logger.warn({ ...this.#about(job), attempts, reason }, 'a webhook message could not be delivered')
    this.#wakeIn(waitMs)
    return { told_seq, attempts, due_at: timestamp(clock() + waitMs) }
  }

  #wakeIn(ms: number): void {
    const { timers, clock } = this.#options
    const dueMs = clock() + ms
    if (this.#closed || dueMs >= this.#dueMs) return
    this.#dueMs = dueMs
    timers.clear(this.#timer)
    this.#timer = timers.set(() => {
      this.#dueMs = Number.POSITIVE_INFINITY
      this.tell()
    }, ms + 1)
    this.#timer.unref()
  }

  async #settle(job: WebhookJob, outcome: WebhookOutcome): Promise<void> {
    await this.#options.store.settleWebhookJob(job, outcome)
  }

  /** For the log: neither the secret nor the path, which may be one. */
  #about({ run_id }: WebhookJob): Record<string, string> {
    return { webhook: this.#webhook.name, receiver: new URL(this.#webhook.url).origin, run_id }
  }
}

function missing(error: unknown): undefined {
  if (isAppError(error) && error.code === 'run_not_found') return undefined
  throw error
}

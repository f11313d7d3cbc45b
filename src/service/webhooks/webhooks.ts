import { isTry } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import { type Timer, timestamp } from '../../core/time.ts'
import type { Webhook } from '../../core/triggers/webhook.ts'
import type { Network } from '../../runtime/public-network.ts'
import { rest } from '../notifications/rest.ts'
import { Delivery, type DeliveryOptions } from './delivery.ts'

/** For what other instances have left, and what was not told of. */
const lookAgainMs = 30_000
/** A job without a run after this time was left by a process that died. */
const startMs = 10 * 60_000
const lastMessagesMs = 3_000

export interface WebhooksOptions extends DeliveryOptions {
  store: SessionStore
  /** For addresses on the public internet. */
  network: Network
}

/** Tells the webhooks of the config of ends and pauses of runs. Costs nothing without webhooks. */
export class WebhookService {
  readonly #options: WebhooksOptions
  #deliveries = new Map<string, { webhook: Webhook; delivery: Delivery }>()
  #timer: Timer | undefined
  #isStarted = false
  #closing: Promise<unknown>[] = []

  constructor(webhooks: readonly Webhook[], options: WebhooksOptions) {
    this.#options = options
    this.replace(webhooks)
  }

  /** Another config. */
  replace(webhooks: readonly Webhook[]): void {
    const before = this.#deliveries
    this.#deliveries = new Map()
    for (const webhook of webhooks) {
      const known = before.get(webhook.name)
      const same = known !== undefined && isSame(known.webhook, webhook)
      if (same) before.delete(webhook.name)
      const delivery = same ? known.delivery : new Delivery(webhook, this.#options, this.#options.network)
      this.#deliveries.set(webhook.name, { webhook, delivery })
    }
    for (const { delivery } of before.values()) this.#closing.push(this.#end(delivery))
    if (this.#isStarted) this.takeUp()
  }

  /** The same store, which notes what is to be told. */
  watching(store: SessionStore): SessionStore {
    return {
      ...store,
      startRun: (start) => {
        const { run } = start
        const names = run.parent_run_id !== null || isTry(run) ? [] : this.#namesFor(run.entity_id)
        return names.length === 0 ? store.startRun(start) : this.#noting(store, names, start)
      },
      finishRun: (end) => {
        const finishing = store.finishRun(end)
        if (this.#deliveries.size > 0) void this.#afterEnd(end.run_id, finishing)
        return finishing
      },
    }
  }

  /** Sends what is due, whoever has left it. `alone`: no other process can be sending. */
  takeUp(alone = false): void {
    this.#isStarted = true
    const { timers } = this.#options
    timers.clear(this.#timer)
    if (this.#deliveries.size === 0) return
    this.#timer = timers.set(() => this.takeUp(), lookAgainMs)
    this.#timer.unref()
    void this.#wake(undefined, alone)
  }

  /** Resolves when nothing is under way. For tests. */
  async idle(): Promise<void> {
    await Promise.all([...this.#deliveries.values()].map(({ delivery }) => delivery.idle()))
  }

  async close(): Promise<void> {
    this.#isStarted = false
    this.#options.timers.clear(this.#timer)
    const ended = [...this.#deliveries.values()].map(({ delivery }) => this.#end(delivery))
    await Promise.all([...ended, ...this.#closing])
  }

  #namesFor(entityId: string): string[] {
    if (this.#deliveries.size === 0) return []
    const meant = [...this.#deliveries.values()].filter(({ webhook }) => webhook.agents?.includes(entityId) ?? true)
    return meant.map(({ webhook }) => webhook.name)
  }

  async #noting(store: SessionStore, names: string[], start: Parameters<SessionStore['startRun']>[0]) {
    const runId = start.run.run_id
    await store.addWebhookJobs(runId, names, timestamp(this.#options.clock()))
    const started = await store.startRun(start)
    if (!('fence' in started)) {
      await store.dropWebhookJobs(runId).catch((error: unknown) => {
        this.#options.logger.warn({ error, run_id: runId }, 'what webhooks were to be told of a refused run remains')
      })
    }
    return started
  }

  async #afterEnd(runId: string, finishing: ReturnType<SessionStore['finishRun']>): Promise<void> {
    if ((await finishing.catch(() => undefined)) === 'ok') await this.#wake(runId)
  }

  async #wake(runId: string | undefined, alone = false): Promise<void> {
    const { store, clock, logger } = this.#options
    const now = clock()
    try {
      const woken = await store.wakeWebhookJobs(timestamp(now), timestamp(now - startMs), runId)
      if (!woken && runId !== undefined) return
      for (const { delivery } of this.#deliveries.values()) delivery.tell(alone)
    } catch (error) {
      // The next look finds it.
      logger.warn({ error }, 'what webhooks are to be told can not be read')
    }
  }

  async #end(delivery: Delivery): Promise<void> {
    const ended = new AbortController()
    await delivery.close(rest(this.#options.timers, lastMessagesMs, ended.signal))
    ended.abort()
  }
}

function isSame({ keys, ...one }: Webhook, { keys: others, ...other }: Webhook): boolean {
  return (
    JSON.stringify(one) === JSON.stringify(other) &&
    keys.length === others.length &&
    keys.every((key, place) => Buffer.from(key).equals(others[place] ?? Buffer.alloc(0)))
  )
}

import type { PushDuty } from '../../core/push.ts'
import { isEnded } from '../../core/run.ts'
import { Delivery, type DeliveryOptions, isGone } from './delivery.ts'
import { rest } from './rest.ts'

const firstPauseMs = 500
const longestPauseMs = 60_000

export interface NotifiedRunOptions extends DeliveryOptions {
  runId: string
}

/** A run whose states are told: follows its events, here or on another instance, until its end or pause. */
export class NotifiedRun {
  /** Called when its newest state is told, or was given up. */
  onIdle: () => void = () => {}
  readonly #options: NotifiedRunOptions
  readonly #deliveries = new Map<string, Delivery>()
  #isNew = false
  #done: Promise<void> | undefined

  constructor(options: NotifiedRunOptions) {
    this.#options = options
  }

  /** Resolves when it is idle. */
  get done(): Promise<void> {
    return this.#done ?? Promise.resolve()
  }

  /** Configs that this process has taken. The run may have gone on since it was followed. */
  add(duties: readonly PushDuty[]): void {
    for (const duty of duties) {
      const known = this.#deliveries.get(duty.config_id)
      if (known === undefined) this.#deliveries.set(duty.config_id, new Delivery(this.#options, duty))
      else known.renew(duty)
    }
    this.#isNew = true
    this.#done ??= this.#work()
  }

  drop(configId: string): void {
    this.#deliveries.get(configId)?.end()
    this.#deliveries.delete(configId)
  }

  async #work(): Promise<void> {
    while (this.#isNew) {
      this.#isNew = false
      await this.#follow()
      await Promise.all([...this.#deliveries.values()].map((delivery) => delivery.idle()))
    }
    this.#done = undefined
    this.onIdle()
  }

  async #follow(): Promise<void> {
    const { runId, runs, closing, logger, timers } = this.#options
    for (let ms = firstPauseMs; ; ms = Math.min(longestPauseMs, ms * 2)) {
      try {
        const { status } = await runs.head(runId)
        this.#tell()
        if (isEnded(status)) return
        await this.#readEvents()
        if (isEnded((await runs.head(runId)).status)) return this.#tell()
      } catch (error) {
        if (isGone(error)) return this.#end()
        if (!closing.aborted) logger.warn({ error, run_id: runId }, 'a run with push configs can not be followed now')
      }
      if (closing.aborted) return
      // It is about to be another instance's, or waits for its agent.
      await rest(timers, ms, closing)
    }
  }

  async #readEvents(): Promise<void> {
    const { runId, runs, outbox } = this.#options
    for await (const batch of await runs.events(runId, 0, outbox.signal)) {
      if (batch.some(({ type }) => type === 'run_start' || type === 'run_resumed')) this.#tell()
    }
  }

  #tell(): void {
    for (const delivery of this.#deliveries.values()) delivery.tell()
  }

  #end(): void {
    for (const delivery of this.#deliveries.values()) delivery.end()
  }
}

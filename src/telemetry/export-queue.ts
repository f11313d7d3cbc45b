import type { Logger } from '../core/logger.ts'
import type { Timer, Timers } from '../core/time.ts'
import type { ReadableSpan, SpanExporter } from './readable-span.ts'

const maxBatch = 512
const lingerMs = 1_000
/** Runs that wait for their spans to be made. */
const maxWaiting = 2_048

export interface QueueOptions<RUN> {
  /** Rejects when spans can't be sent at all. */
  exporter: () => Promise<SpanExporter>
  /** The spans of a run that has ended. */
  spansOf: (run: RUN) => Promise<ReadableSpan[]>
  timers: Timers
  logger: Logger
}

export interface ExportNumbers {
  exported: number
  /** The collector refused them, or could not be reached. */
  failed: number
  /** Runs whose spans were never made: too many waited, or their record could not be read. */
  droppedRuns: number
}

/**
 * Makes and sends spans beside the runs, one batch at a time. While a batch is on its way only runs wait, as a few ids each, and
 * when too many wait, the newest are dropped and counted. The log says so once, and again after the next success.
 */
export class ExportQueue<RUN> {
  readonly numbers: ExportNumbers = { exported: 0, failed: 0, droppedRuns: 0 }
  readonly #options: QueueOptions<RUN>
  #waiting: RUN[] = []
  #batch: ReadableSpan[] = []
  #working: Promise<void> | undefined
  #timer: Timer | undefined
  #isTroubled = false
  #isClosed = false

  constructor(options: QueueOptions<RUN>) {
    this.#options = options
  }

  /** Runs on the hot path. */
  offer(run: RUN): void {
    if (this.#isClosed || this.#waiting.length >= maxWaiting) {
      this.numbers.droppedRuns++
      this.#complain(`More than ${maxWaiting} ended runs wait for the collector.`)
      return
    }
    this.#waiting.push(run)
    this.#later()
  }

  /** Sends what waits, and gives up after this time. */
  async close(limitMs: number): Promise<void> {
    const { timers, logger } = this.#options
    const late = Promise.withResolvers<'late'>()
    const timer = timers.set(() => late.resolve('late'), limitMs)
    const flushed = this.#flush().then(() => 'flushed' as const)
    const ended = await Promise.race([flushed, late.promise])
    this.#isClosed = true
    timers.clear(timer)
    this.#clearTimer()
    const left = this.#waiting.length
    this.#waiting = []
    if (ended === 'late')
      logger.warn({ runs: left, spans: this.#batch.length }, 'the last spans were not exported in time')
  }

  async #flush(): Promise<void> {
    await this.#working
    if (this.#waiting.length > 0 || this.#batch.length > 0) await this.#work()
  }

  /** Waits a moment for more, so that a batch is worth a request. */
  #later(): void {
    if (this.#working !== undefined || this.#timer !== undefined) return
    const timer = this.#options.timers.set(() => {
      this.#timer = undefined
      void this.#work()
    }, lingerMs)
    timer.unref()
    this.#timer = timer
  }

  #clearTimer(): void {
    this.#options.timers.clear(this.#timer)
    this.#timer = undefined
  }

  #work(): Promise<void> {
    this.#clearTimer()
    this.#working ??= this.#makeAndSend().finally(() => {
      this.#working = undefined
      if (this.#waiting.length > 0 && !this.#isClosed) this.#later()
    })
    return this.#working
  }

  async #makeAndSend(): Promise<void> {
    while (this.#waiting.length > 0) {
      const runs = this.#waiting.splice(0, maxBatch)
      for (const run of runs) {
        try {
          this.#batch.push(...(await this.#options.spansOf(run)))
        } catch (error) {
          this.numbers.droppedRuns++
          this.#complain('The record of a run could not be read.', error)
        }
        while (this.#batch.length >= maxBatch) await this.#send()
        if (this.#isClosed) return
      }
    }
    while (this.#batch.length > 0 && !this.#isClosed) await this.#send()
  }

  async #send(): Promise<void> {
    const spans = this.#batch.splice(0, maxBatch)
    try {
      const exporter = await this.#options.exporter()
      const { code, error } = await new Promise<{ code: number; error?: Error }>((done) => exporter.export(spans, done))
      if (code !== 0) throw error ?? new Error('the collector gave no reason')
      this.numbers.exported += spans.length
      if (this.#isTroubled) this.#options.logger.info({ ...this.numbers }, 'spans are exported again')
      this.#isTroubled = false
    } catch (error) {
      this.numbers.failed += spans.length
      this.#complain('The collector did not take them.', error)
    }
  }

  #complain(reason: string, error?: unknown): void {
    if (this.#isTroubled) return
    this.#isTroubled = true
    this.#options.logger.warn(
      { reason, ...(error !== undefined && { error }), ...this.numbers },
      'spans are dropped; runs are not affected, and their record has everything',
    )
  }
}

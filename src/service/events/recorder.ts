import type { DataDelta, EmittedEvent, RunEvent, RunResumedEvent, Stamp } from '../../core/event.ts'
import { endEvent, startEvent } from '../../core/event.ts'
import type { RunRecord } from '../../core/run.ts'
import type { EventsAppended, RunBatch } from '../../core/run-write.ts'
import { type Timer, timestamp } from '../../core/time.ts'
import { Throttle } from '../../runtime/throttle.ts'
import type { RunServices } from '../runs/run-services.ts'
import { RunLog } from './log.ts'

const usualFlushMs = 50
const flushAfterCharacters = 4096
/** How many event numbers a run may use before its next batch is durable. */
export const reserve = 1000
const heldLimit = 1024 * 1024
/** Minimum size of an event without text. */
const eventCharacters = 256
/** Readers get at most ten partial values per second. */
const partialMs = 100
/** After a batch that could not be written. */
const retryMs = 500
/** Interval of checks whether the start is durable. */
const pauseMs = 5

type RecorderServices = Pick<RunServices, 'store' | 'clock' | 'timers' | 'logger' | 'peers'>

export interface RecorderOptions {
  /** The event that begins a resumed run; the store has it when the start is durable. */
  resumed: (RunResumedEvent & Stamp) | undefined
  /** The store refuses more events. */
  onRefused: (why: Exclude<EventsAppended, 'ok'>) => void
  /** Events could not be written; they are held again. */
  onFailure: (error: unknown) => void
}

/**
 * Numbers the events of one run, shows them in `log`, and has them recorded in batches. Nothing is shown before the
 * run's start is durable, nor under a number beyond the durable reservation.
 */
export class RunRecorder {
  readonly log: RunLog
  readonly #services: RecorderServices
  readonly #run: RunRecord
  readonly #options: RecorderOptions
  /** Every new run has this one; a resumed run gets its own from the store. */
  #fence = 1
  #seq: number
  #reservedUntil: number
  #recordedSeq: number
  #startDurable = false
  #started = false
  #stopped = false
  #checked = false
  #held: RunEvent[] = []
  #heldCharacters = 0
  #appending: Promise<void> | undefined
  #flushMs = usualFlushMs
  #flushTimer: Timer | undefined
  #rest: { timer: Timer; end: () => void } | undefined
  /** Whether the last batch could not be written. */
  #troubled = false
  #partials: Throttle<DataDelta> | undefined

  constructor(services: RecorderServices, run: RunRecord, options: RecorderOptions) {
    this.#services = services
    this.#run = run
    this.#options = options
    this.#seq = options.resumed?.seq ?? 1
    this.#recordedSeq = this.#seq
    this.#reservedUntil = this.#seq - 1 + reserve
    this.log = new RunLog((after, limit) => services.store.readEvents(run.run_id, after, limit), this.#seq)
  }

  get fence(): number {
    return this.#fence
  }

  get isDurable(): boolean {
    return this.#startDurable
  }

  /** The first event, once; it is never stored, so it may be pushed as late as the end. */
  start(): void {
    if (this.#started) return
    this.#started = true
    this.log.push(this.#options.resumed ?? startEvent(this.#run))
  }

  startIsDurable(fence: number): void {
    this.#fence = fence
    this.#startDurable = true
    this.release()
  }

  /** Gives a promise when the run has to wait for the store. `characters`: length of the event's JSON, or of its text. */
  add(body: Exclude<EmittedEvent | RunResumedEvent, DataDelta>, characters: number): Promise<void> | undefined {
    const { run_id: runId } = this.#run
    const seq = ++this.#seq
    const at = timestamp(this.#services.clock())
    const event: RunEvent =
      body.type === 'text_delta'
        ? { type: 'text_delta', run_id: runId, seq, at, text: body.text }
        : { ...body, run_id: runId, seq, at }
    this.log.push(event, characters)
    this.#partials?.drop()
    this.#held.push(event)
    this.#heldCharacters += body.type === 'text_delta' ? characters : Math.max(characters, eventCharacters)
    this.release()
    if (this.#heldCharacters >= flushAfterCharacters) this.#flush()
    else this.#flushLater()
    return this.#heldCharacters >= heldLimit ? this.#room() : undefined
  }

  /** Shows partial data to live readers until the next event is added. */
  showPartial(body: DataDelta): void {
    if (this.#stopped) return
    this.#partials ??= new Throttle(this.#services.timers, partialMs, (partial) => {
      const at = timestamp(this.#services.clock())
      this.log.offerLive({ ...partial, run_id: this.#run.run_id, seq: this.#seq, at })
    })
    this.#partials.offer(body)
  }

  async #room(): Promise<void> {
    while (this.#heldCharacters >= heldLimit && !this.#stopped) {
      this.#flush()
      await (this.#appending ?? new Promise<void>((resolve) => this.#services.timers.set(resolve, pauseMs)))
    }
  }

  /** Resolves when all events so far are in the store, or the run has ended: its end then records the rest. */
  async recorded(): Promise<void> {
    const seq = this.#seq
    const { peers } = this.#services
    while (this.#recordedSeq < seq && !this.#stopped) {
      this.#flush()
      await (this.#appending ?? new Promise((resolve) => setImmediate(resolve)))
    }
    // What goes on from here may act on the world.
    if (peers?.isHeld === true) await peers.released()
  }

  /** Writes what is held now, once: whoever was shown an event finds it in the store then, unless the store is away. */
  async settle(): Promise<void> {
    await this.#appending
    this.#flush()
    await this.#appending
  }

  /** The input has been passed; the next batch records that. */
  inputIsChecked(): void {
    this.#checked = true
  }

  /** No batch begins after this. */
  stop(): void {
    this.#stopped = true
    this.#services.timers.clear(this.#flushTimer)
    this.#endRest()
    this.#partials?.stop()
  }

  /** The batch that the store is writing. */
  get appending(): Promise<void> | undefined {
    return this.#appending
  }

  /** Events that are in no batch yet. */
  takeHeld(): RunEvent[] {
    const events = this.#held
    this.#held = []
    this.#heldCharacters = 0
    return events
  }

  takeNumber(): number {
    return ++this.#seq
  }

  /** The end is durable: readers get everything. */
  end(run: RunRecord): void {
    this.log.push(endEvent(run, run.end_seq ?? this.#seq))
    this.#startDurable = true
    this.log.release(this.#seq)
    this.log.close()
  }

  /** Shows what may be seen by now. Events beyond the durable reservation stay hidden until a batch has extended it. */
  release(): void {
    if (this.#startDurable && this.#services.peers?.isHeld !== true)
      this.log.release(Math.min(this.#seq, this.#reservedUntil))
  }

  /** How long events may wait for others before they are recorded. */
  flushWithin(ms = usualFlushMs): void {
    if (ms === this.#flushMs) return
    this.#flushMs = ms
    if (this.#flushTimer === undefined) return
    this.#services.timers.clear(this.#flushTimer)
    this.#flushTimer = undefined
    this.#flushLater()
  }

  #flushLater(): void {
    this.#flushTimer ??= this.#services.timers.set(() => this.#flush(), this.#flushMs)
  }

  #flush(): void {
    this.#services.timers.clear(this.#flushTimer)
    this.#flushTimer = undefined
    if (this.#appending !== undefined || this.#held.length === 0 || this.#stopped || !this.#startDurable) return
    const characters = this.#heldCharacters
    const events = this.takeHeld()
    const last = events.at(-1)?.seq ?? this.#seq
    const batch: RunBatch = {
      run_id: this.#run.run_id,
      fence: this.#fence,
      events,
      reserve_until: last + reserve,
    }
    if (this.#checked) {
      batch.checked = true
      this.#checked = false
    }
    this.#appending = this.#append(batch, last, characters).finally(() => {
      this.#appending = undefined
      if (this.#held.length > 0 && !this.#stopped) this.#flushLater()
    })
  }

  async #append(batch: RunBatch, last: number, characters: number): Promise<void> {
    try {
      const appended = await this.#services.store.appendEvents(batch)
      this.#troubled = false
      if (appended === 'ok') {
        this.#reservedUntil = batch.reserve_until
        this.#recordedSeq = last
        this.log.recorded(last)
        this.release()
      } else this.#options.onRefused(appended)
    } catch (error) {
      // A second write of the same numbers is harmless; the end carries what could not be appended.
      if (!this.#troubled) this.#services.logger.error({ error, run_id: batch.run_id }, 'events could not be recorded')
      this.#troubled = true
      this.#held = [...batch.events, ...this.#held]
      this.#heldCharacters += characters
      this.#options.onFailure(error)
      if (!this.#stopped) await this.#pause()
    }
  }

  /** Whoever waits for the batch waits for this too, so that a store which is away is not asked all the time. */
  async #pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#rest = { timer: this.#services.timers.set(() => this.#endRest(), retryMs), end: resolve }
    await promise
  }

  #endRest(): void {
    this.#services.timers.clear(this.#rest?.timer)
    this.#rest?.end()
    this.#rest = undefined
  }
}

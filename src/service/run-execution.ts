import { AppError, toAppError } from '../core/error.ts'
import type { RunEvent } from '../core/event.ts'
import { endEvent, startEvent } from '../core/event.ts'
import { createId } from '../core/id.ts'
import type { JsonObject } from '../core/json.ts'
import type { Logger } from '../core/logger.ts'
import type { CancellationReason, RunError, RunRecord, RunStatus } from '../core/run.ts'
import type { Emission, RunContext, RunInput, Runnable } from '../core/runnable.ts'
import type { RunBatch, SessionStore } from '../core/store.ts'
import type { Clock } from '../core/time.ts'
import { timestamp } from '../core/time.ts'
import { toEvent } from './emission.ts'
import { aboutRun, deletedWithSession, mayPass, toEnd, unrecordable } from './run-end.ts'
import { RunFold } from './run-fold.ts'
import { RunLog } from './run-log.ts'

const flushAfterMs = 50
const flushAfterCharacters = 4096
const reserve = 1000
const turnLimit = 256
const heldLimit = 1024 * 1024
const retryEndMs = 500

export interface ExecutionOptions {
  store: SessionStore
  clock: Clock
  logger: Logger
  run: RunRecord
  runnable: Runnable
  input: RunInput
  fence: number
  /** Everything of the context but what the execution itself provides. */
  context: Omit<RunContext, 'signal' | 'state'>
  /** The session's state when the run begins; undefined for a run that has none to see. */
  loadState: (() => Promise<JsonObject>) | undefined
  /** Of the whole run, from its start. */
  timeoutMs: number | undefined
  /** Of silence between two events. */
  idleTimeoutMs: number | undefined
  /** The end is durable, or was given up. */
  onEnd: (execution: RunExecution) => void
}

interface Outcome {
  status: Exclude<RunStatus, 'queued' | 'running'>
  reason?: CancellationReason
  error?: RunError
}

/**
 * One run under way: drives the runnable, numbers and records what it emits, and ends it once. Readers follow `log`;
 * none of them drives anything. `done` resolves with the record when the end is durable.
 */
export class RunExecution {
  readonly run: RunRecord
  readonly log: RunLog
  readonly done: Promise<RunRecord>
  readonly #options: ExecutionOptions
  readonly #fold = new RunFold()
  readonly #abort = new AbortController()
  #resolveDone: (run: RunRecord) => void = () => {}
  #rejectDone: (error: unknown) => void = () => {}
  #fence: number
  #seq = 1
  #reservedUntil = reserve
  #startDurable = false
  #held: RunEvent[] = []
  #heldCharacters = 0
  #appending: Promise<void> | undefined
  #flushTimer: NodeJS.Timeout | undefined
  #deadline: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined
  #ending: Promise<void> | undefined
  #turn = 0
  #discarded = false
  #begun = false
  #state: JsonObject = {}
  #stateBefore = '{}'

  constructor(options: ExecutionOptions) {
    this.#options = options
    this.run = options.run
    this.#fence = options.fence
    this.log = new RunLog((after, limit) => options.store.readEvents(this.run.run_id, after, limit))
    this.done = new Promise((resolve, reject) => {
      this.#resolveDone = resolve
      this.#rejectDone = reject
    })
    this.done.catch(() => {})
  }

  /** Begins to run now. Nothing is visible to readers before `startIsDurable`. */
  begin(): void {
    if (this.ended) return
    if (this.run.status === 'queued') {
      this.run.status = 'running'
      this.run.started_at = timestamp(this.#options.clock())
    }
    this.startClock()
    this.#pushStart()
    void this.#drive()
  }

  /** Starts the time limits. A foreground run's waiting in its session's queue counts, so it may be called before `begin`. */
  startClock(): void {
    if (this.ended) return
    const { timeoutMs, idleTimeoutMs } = this.#options
    if (timeoutMs !== undefined) this.#deadline ??= setTimeout(() => this.cancel('timeout'), timeoutMs)
    if (idleTimeoutMs !== undefined) this.#idle ??= setTimeout(() => this.cancel('timeout'), idleTimeoutMs)
  }

  get fence(): number {
    return this.#fence
  }

  #pushStart(): void {
    if (this.#begun) return
    this.#begun = true
    this.log.push(startEvent(this.run))
  }

  startIsDurable(fence: number): void {
    this.#fence = fence
    this.#startDurable = true
    this.#release()
  }

  /** The start was not accepted: stops without a record, since there is none. */
  discard(error: unknown): void {
    this.#discarded = true
    this.#clearTimers()
    this.#ending ??= Promise.resolve()
    this.#abort.abort(error)
    this.log.close(error)
    this.#rejectDone(error)
  }

  /** Recorded as cancelled at once; what the runnable emits later is dropped. Does nothing to an ended run. */
  cancel(reason: CancellationReason): void {
    this.#end({ status: 'cancelled', reason })
  }

  /** Recorded as failed at once, before or while it runs. Does nothing to an ended run. */
  fail(error: unknown): void {
    this.#end({ status: 'failed', error: describe(error) })
  }

  get ended(): boolean {
    return this.#ending !== undefined
  }

  /** The record as it stands, partial output included. */
  snapshot(): RunRecord {
    const output = this.#fold.messages(this.run.run_id, `msg_${this.run.run_id.slice(4)}`, this.run.created_at)
    const messages = this.run.status === 'running' ? [...this.run.messages, ...output] : this.run.messages
    return { ...this.run, messages, sources: [...this.#fold.sources], usage: this.#fold.usage }
  }

  async #drive(): Promise<void> {
    const { runnable, input, context, loadState } = this.#options
    try {
      if (loadState !== undefined) {
        this.#state = await loadState()
        this.#stateBefore = JSON.stringify(this.#state)
        if (this.ended) return
      }
      const full: RunContext = Object.assign(Object.create(null) as object, context, {
        signal: this.#abort.signal,
        state: this.#state,
      })
      for await (const emission of runnable.run(input, full)) {
        if (this.ended) return
        const wait = this.#emit(emission)
        if (wait !== undefined) await wait
        if (this.ended) return
      }
      this.#assertState()
      this.#end({ status: 'completed' })
    } catch (error) {
      if (this.ended) return
      this.#options.logger.warn({ error, run_id: this.run.run_id, entity_id: this.run.entity_id }, 'run failed')
      this.fail(error)
    }
  }

  #emit(emission: Emission): Promise<void> | undefined {
    if (emission === '') return undefined
    const body = toEvent(emission)
    if (body.type === 'input_required') {
      throw new AppError('run_failed', 'The run asked for input, and nothing here can give it.')
    }
    this.#fold.add(body)
    const seq = ++this.#seq
    const at = timestamp(this.#options.clock())
    const event: RunEvent =
      body.type === 'text_delta'
        ? { type: 'text_delta', run_id: this.run.run_id, seq, at, text: body.text }
        : { ...body, run_id: this.run.run_id, seq, at }
    this.log.push(event)
    this.#held.push(event)
    this.#heldCharacters += body.type === 'text_delta' ? body.text.length : 256
    this.#idle?.refresh()
    this.#release()
    if (this.#heldCharacters >= flushAfterCharacters) this.#flush()
    else this.#flushTimer ??= setTimeout(() => this.#flush(), flushAfterMs)
    if (this.#heldCharacters >= heldLimit && this.#appending !== undefined) return this.#appending
    this.#turn++
    return this.#turn % turnLimit === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined
  }

  // Numbers beyond the durable reservation stay unseen until a batch has extended it.
  #release(): void {
    if (this.#startDurable) this.log.release(Math.min(this.#seq, this.#reservedUntil))
  }

  #flush(): void {
    clearTimeout(this.#flushTimer)
    this.#flushTimer = undefined
    if (this.#appending !== undefined || this.#held.length === 0 || this.ended || !this.#startDurable) return
    const events = this.#takeHeld()
    const last = events.at(-1)?.seq ?? this.#seq
    const batch = { run_id: this.run.run_id, fence: this.#fence, events, reserve_until: last + reserve }
    this.#appending = this.#append(batch, last).finally(() => {
      this.#appending = undefined
      if (this.#held.length > 0) this.#flushTimer ??= setTimeout(() => this.#flush(), flushAfterMs)
    })
  }

  async #append(batch: RunBatch, last: number): Promise<void> {
    try {
      if (await this.#options.store.appendEvents(batch)) {
        this.#reservedUntil = batch.reserve_until
        this.log.recorded(last)
        this.#release()
      } else if (!this.ended) this.#end({ status: 'cancelled', reason: 'session_deleted' })
    } catch (error) {
      // Numbers make a second try harmless; the end carries what could not be appended.
      this.#options.logger.error({ error, run_id: this.run.run_id }, 'events could not be recorded')
      this.#held = [...batch.events, ...this.#held]
      this.fail(error)
    }
  }

  #takeHeld(): RunEvent[] {
    const events = this.#held
    this.#held = []
    this.#heldCharacters = 0
    return events
  }

  #end(outcome: Outcome): void {
    if (this.#ending !== undefined) return
    this.#clearTimers()
    this.#ending = this.#record(outcome)
  }

  // The run itself changes when its end is durable, so that nobody is shown an end that may be lost.
  async #record(outcome: Outcome): Promise<void> {
    const { run } = this
    const completedAt = timestamp(this.#options.clock())
    const messages = [...run.messages, ...this.#fold.messages(run.run_id, createId('msg'), completedAt)]
    if (outcome.status !== 'completed') {
      this.#abort.abort(new AppError('run_cancelled', `The run was stopped: ${outcome.reason ?? outcome.status}.`))
    }
    while (this.#appending !== undefined) await this.#appending
    this.#pushStart()
    await this.#recordUntilDurable({
      ...run,
      status: outcome.status,
      messages,
      completed_at: completedAt,
      cancellation_reason: outcome.reason ?? null,
      error: outcome.error ?? null,
      usage: this.#fold.usage,
      sources: this.#fold.sources,
      end_seq: ++this.#seq,
    })
  }

  async #recordUntilDurable(ended: RunRecord): Promise<void> {
    const { store, logger, onEnd } = this.#options
    let end = toEnd(ended, this.#fence, this.#takeHeld(), this.#changedState())
    let told = false
    let bare = false
    while (true) {
      try {
        end.fence = this.#fence
        const finished = await store.finishRun(end)
        // A start and its end share a commit; what became of the start is told first.
        if (finished !== 'ok') await new Promise((resolve) => setImmediate(resolve))
        if (this.#discarded) return
        if (finished === 'missing') Object.assign(ended, deletedWithSession)
        else if (finished !== 'ok')
          throw new AppError('unavailable', `The end of the run was not recorded: ${finished}.`)
        return this.#tellEnd(ended)
      } catch (error) {
        if (this.#discarded) return
        logger.error({ error, run_id: this.run.run_id }, 'the end of a run could not be recorded')
        const { code } = toAppError(error)
        if (code === 'internal' && !bare) {
          bare = true
          Object.assign(ended, { status: 'failed', error: unrecordable, messages: this.run.messages, sources: [] })
          end = toEnd(ended, this.#fence, [], undefined)
          continue
        }
        if (!told) this.#tellFailure(error)
        told = true
        if (!mayPass(error)) return onEnd(this)
        await new Promise((resolve) => setTimeout(resolve, retryEndMs).unref())
        if (this.#discarded) return
      }
    }
  }

  #tellEnd(ended: RunRecord): void {
    Object.assign(this.run, ended)
    this.log.push(endEvent(this.run, ended.end_seq ?? this.#seq))
    this.#startDurable = true
    this.log.release(this.#seq)
    this.log.close()
    this.#resolveDone(this.run)
    this.#options.onEnd(this)
  }

  #tellFailure(error: unknown): void {
    const failure = aboutRun(error, this.run)
    this.log.close(failure)
    this.#rejectDone(failure)
  }

  #assertState(): void {
    try {
      JSON.stringify(this.#state)
    } catch (cause) {
      throw new AppError('run_failed', "The agent left something in the session's state that is not JSON.", { cause })
    }
  }

  /** Undefined when there is nothing to keep. */
  #changedState(): JsonObject | undefined {
    if (this.#options.loadState === undefined) return undefined
    try {
      const text = JSON.stringify(this.#state)
      return text === this.#stateBefore ? undefined : (JSON.parse(text) as JsonObject)
    } catch {
      return undefined
    }
  }

  #clearTimers(): void {
    clearTimeout(this.#flushTimer)
    clearTimeout(this.#deadline)
    clearTimeout(this.#idle)
  }
}

// What an AppError says is for the person who reads it; anything else may hold what nobody should see.
function describe(error: unknown): RunError {
  const known = toAppError(error)
  if (known.code === 'internal') {
    const name = error instanceof Error ? error.name : 'Error'
    return { code: 'run_failed', message: `The agent threw an error (${name}); the server's log has the details.` }
  }
  return { code: known.code, message: known.message }
}

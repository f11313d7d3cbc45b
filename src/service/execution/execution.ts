import { shownDuration } from '../../core/duration.ts'
import { AppError } from '../../core/error.ts'
import { RunFold } from '../../core/events/fold.ts'
import { runLimit } from '../../core/limits.ts'
import type { CancellationReason, RunRecord } from '../../core/run.ts'
import type { Emission } from '../../core/runnable.ts'
import { timestamp } from '../../core/time.ts'
import { RunIntake } from '../events/intake.ts'
import type { RunLog } from '../events/log.ts'
import { RunRecorder } from '../events/recorder.ts'
import { RunTimers } from '../limits/run-timers.ts'
import type { RunServices } from '../runs/run-services.ts'
import { contextOf } from './context.ts'
import { recordEnd } from './durable-end.ts'
import { deletedWithSession, silentEnd, toEnd, toEnded, toSnapshot, unrecordable } from './end.ts'
import { aboutRun, isRetryableAmong, takenOver, toEnding, toRunError } from './failure.ts'
import { RunInputCheck } from './input-check.ts'
import type { ExecutionOptions, RunEnding } from './options.ts'
import { RunState } from './state.ts'

/**
 * Executes one run: drives the runnable, numbers and records what it emits, and ends it once. Readers follow `log` and
 * drive nothing. `done` resolves with the record when the end is durable.
 */
export class RunExecution {
  readonly run: RunRecord
  readonly options: ExecutionOptions
  readonly check: RunInputCheck
  readonly #services: RunServices
  readonly #recorder: RunRecorder
  readonly #timers: RunTimers
  readonly #intake: RunIntake
  readonly #state: RunState
  readonly #fold = new RunFold()
  readonly #abort = new AbortController()
  readonly #done = Promise.withResolvers<RunRecord>()
  readonly done = this.#done.promise
  #ending: Promise<void> | undefined
  /** Used by its own model calls and those of the runs inside it. */
  #tokens: number
  #discarded = false
  #reason: CancellationReason | undefined

  constructor(services: RunServices, options: ExecutionOptions) {
    const { run, input, before, prompts, files, parent, times, unchecked = false } = options
    const { bounds, timers } = services
    this.#services = services
    this.options = options
    this.run = run
    const resumed = before?.at(-1)
    if (before !== undefined) this.#fold.addRecorded(before)
    this.#tokens = this.#fold.usage?.total_tokens ?? 0
    this.#recorder = new RunRecorder(services, run, {
      resumed: resumed?.type === 'run_resumed' ? resumed : undefined,
      onRefused: (why) => (why === 'gone' ? this.cancel('session_deleted') : this.abandon()),
      onFailure: (error) => {
        if (services.peers === undefined || !isRetryableAmong(services.peers, error)) this.fail(error)
      },
    })
    this.#timers = new RunTimers(
      timers,
      times,
      () => this.cancel('timeout'),
      () => this.fail(runLimit('run.time', shownDuration(bounds.run.timeMs), 'It ran longer')),
    )
    this.#intake = new RunIntake({
      bounds,
      fold: this.#fold,
      recorder: this.#recorder,
      prompts,
      files,
      allKnow: services.peers?.allKnow,
      isOver: () => this.ended,
      onTokens: (tokens) => this.#spendTokens(tokens),
      onEvent: () => this.touch(),
    })
    this.#state = new RunState(options.state, bounds.stateBytes)
    this.check = new RunInputCheck(run, input.parts, unchecked, parent?.check, () => this.#recorder.inputIsChecked())
    this.done.catch(() => {})
  }

  get log(): RunLog {
    return this.#recorder.log
  }

  /** Starts the runnable. Readers see nothing before `startIsDurable`. */
  begin(): void {
    if (this.ended) return
    if (this.run.status === 'queued') {
      this.run.status = 'running'
      this.run.started_at = timestamp(this.#services.clock())
    }
    this.startClock()
    this.#timers.startWork()
    this.#recorder.start()
    void this.#drive()
  }

  /** Starts the time limits. For a foreground run they include its time in the queue, so this may come before `begin`. */
  startClock(): void {
    if (!this.ended) this.#timers.start()
  }

  get fence(): number {
    return this.#recorder.fence
  }

  get isDurable(): boolean {
    return this.#recorder.isDurable
  }

  startIsDurable(fence: number): void {
    this.#recorder.startIsDurable(fence)
  }

  /** The start was refused or could not be committed: stops without recording an end. */
  discard(error: unknown): void {
    this.#discarded = true
    this.#stop()
    this.#ending ??= Promise.resolve()
    this.#abort.abort(error)
    this.log.close(error)
    this.#done.reject(error)
    this.options.onEnd(this)
  }

  /** Another instance has the run now: stops without recording an end. */
  abandon(): void {
    this.discard(takenOver(this.run))
  }

  /** Shows what was held back. */
  release(): void {
    this.#recorder.release()
  }

  flushWithin(ms: number | undefined): void {
    this.#recorder.flushWithin(ms)
  }

  /** Resolves when the store has had all events so far, for who reads them there. The last ones come with the end. */
  settle(): Promise<void> {
    return this.#ending ?? this.#recorder.settle()
  }

  /** Records the run as cancelled; what the runnable emits later is dropped. Does nothing to an ended run. */
  cancel(reason: CancellationReason): void {
    this.#end({ status: 'cancelled', reason })
  }

  /** Records the run as failed, before or after it has begun. Does nothing to an ended run. */
  fail(error: unknown): void {
    this.#end({ status: 'failed', error: toRunError(error) })
  }

  /** Ends the run as paused, whatever the runnable is doing. */
  pause(): void {
    this.#end({ status: 'input_required' })
  }

  /** Restarts the idle time of this run and of the runs around it. */
  touch(): void {
    this.#timers.resetIdleTimer()
    this.parent?.touch()
  }

  get parent(): RunExecution | undefined {
    return this.options.parent
  }

  /** Number of the first event since the run started or was last resumed. */
  get firstSeq(): number {
    return this.options.before?.at(-1)?.seq ?? 1
  }

  /** Aborts when the run ends, unless it completed. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Why the run was cancelled; set at once, before that is recorded. */
  get reason(): CancellationReason | undefined {
    return this.#reason
  }

  get ended(): boolean {
    return this.#ending !== undefined
  }

  /** The record with the output so far. */
  snapshot(): RunRecord {
    return toSnapshot(this.run, this.#fold)
  }

  async #drive(): Promise<void> {
    const { runnable, input } = this.options
    try {
      const loading = this.#state.load(this.signal) ?? this.options.readUser?.(this.signal)
      if (loading !== undefined) await loading
      if (this.ended) return
      for await (const emission of runnable.run(input, contextOf(this, this.#state, this.#recorder, this.#intake))) {
        if (this.ended) return
        const wait = this.take(emission)
        if (wait !== undefined) await wait
        if (this.ended) return
      }
      this.#state.check()
      this.#end({ status: this.#intake.asked ? 'input_required' : 'completed' })
    } catch (error) {
      this.#failWith(error)
    }
  }

  #failWith(error: unknown): void {
    if (this.ended) return
    const ending = toEnding(error)
    this.#end(ending)
    if (ending.status !== 'failed') return
    const { run_id, entity_id, parent_run_id } = this.run
    const about = { run_id, entity_id, ...(parent_run_id !== null && { parent_run_id }) }
    this.#services.logger.warn({ error, ...about }, 'run failed')
  }

  /** An invalid emission ends the run here, because the runnable may ignore its signal. */
  take(emission: Emission): Promise<void> | undefined {
    try {
      return this.#intake.take(emission)
    } catch (error) {
      this.#failWith(error)
      return undefined
    }
  }

  /** Tokens count for the outermost run; its end also ends the runs inside it. */
  #spendTokens(tokens: number): void {
    if (this.parent !== undefined) {
      this.parent.#spendTokens(tokens)
      return
    }
    this.#tokens += tokens
    const max = this.#services.bounds.run.tokens
    if (max === undefined || this.#tokens <= max) return
    this.fail(runLimit('run.tokens', String(max), `It has used ${this.#tokens} tokens, including its child runs`))
  }

  #end(ending: RunEnding): void {
    if (this.#ending !== undefined) return
    this.#stop()
    this.#reason = ending.reason
    this.#ending = this.#record(ending).catch((error: unknown) => this.#giveUp(error))
  }

  #stop(): void {
    this.#recorder.stop()
    this.#timers.clear()
  }

  // `run` changes only once its end is durable: no reader sees an end that may still be lost.
  async #record(ending: RunEnding): Promise<void> {
    const { run } = this
    const { status, reason } = ending
    if (status !== 'input_required') this.check.refuseUnchecked()
    const completedAt = timestamp(this.#services.clock())
    if (status !== 'completed') {
      this.#abort.abort(new AppError('run_cancelled', `The run was stopped: ${reason ?? status}.`))
    }
    while (this.#recorder.appending !== undefined) await this.#recorder.appending
    this.#recorder.start()
    const ended = toEnded(run, ending, this.#fold, completedAt, this.#recorder.takeNumber())
    const more = { ...this.check.toEnd(status), ...silentEnd(ended, this.options) }
    const finished = await recordEnd(this.#services, {
      end: { ...toEnd(ended, this.fence, this.#recorder.takeHeld(), this.#state.changed()), ...more },
      fence: () => this.fence,
      bare: () => {
        Object.assign(ended, unrecordable, { messages: run.messages, sources: [], waiting: [] })
        return { ...toEnd(ended, this.fence, [], undefined), ...more }
      },
      isDiscarded: () => this.#discarded,
      onFailure: (failure) => this.#tellFailure(failure),
    })
    if (finished === 'fenced') return this.abandon()
    if (finished === 'missing') Object.assign(ended, deletedWithSession)
    if (finished !== undefined) this.#tellEnd(ended)
    else if (!this.#discarded) this.options.onEnd(this)
  }

  /** The end can't be recorded: fails those who wait for it, and frees the session. */
  #giveUp(error: unknown): void {
    if (this.#discarded) return
    this.#tellFailure(error)
    this.options.onEnd(this)
    this.#services.logger.error({ error, run_id: this.run.run_id }, 'a run could not be ended')
  }

  #tellEnd(ended: RunRecord): void {
    const run = Object.assign(this.run, ended)
    this.#recorder.end(run)
    this.#done.resolve(run)
    this.options.onEnd(this)
  }

  #tellFailure(error: unknown): void {
    const failure = aboutRun(error, this.run)
    this.log.close(failure)
    this.#done.reject(failure)
  }
}

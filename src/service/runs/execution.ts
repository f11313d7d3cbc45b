import { isDeepStrictEqual } from 'node:util'
import { shownDuration } from '../../core/duration.ts'
import { AppError, toAppError } from '../../core/error.ts'
import { RunFold } from '../../core/fold.ts'
import { createId } from '../../core/id.ts'
import { runLimit } from '../../core/limits.ts'
import type { Part } from '../../core/message.ts'
import { refuseMessage } from '../../core/refusal.ts'
import type { CancellationReason, RunRecord } from '../../core/run.ts'
import { type Emission, type InputCheck, inputCheck, type RunContext, type Runnable } from '../../core/runnable.ts'
import { timestamp } from '../../core/time.ts'
import { RunIntake } from '../events/intake.ts'
import type { RunLog } from '../events/log.ts'
import { RunRecorder } from '../events/recorder.ts'
import { RunTimers } from '../limits/run-timers.ts'
import { recordEnd } from './durable-end.ts'
import { aboutRun, deletedWithSession, toEnd, toRunError, unrecordable } from './end.ts'
import type { ExecutionOptions, Outcome } from './options.ts'
import { RunState } from './state.ts'

/**
 * One run under way: drives the runnable, numbers and records what it emits, and ends it once. Readers follow `log`;
 * none of them drives anything. `done` resolves with the record when the end is durable.
 */
export class RunExecution implements InputCheck {
  readonly run: RunRecord
  readonly done: Promise<RunRecord>
  readonly #options: ExecutionOptions
  readonly #recorder: RunRecorder
  readonly #timers: RunTimers
  readonly #intake: RunIntake
  readonly #state: RunState
  readonly #fold = new RunFold()
  readonly #abort = new AbortController()
  #resolveDone: (run: RunRecord) => void = () => {}
  #rejectDone: (error: unknown) => void = () => {}
  #ending: Promise<void> | undefined
  /** Of its own model calls and those of the runs inside it. */
  #tokens: number
  #discarded = false
  #reason: CancellationReason | undefined
  #check: 'none' | 'unchecked' | 'passed' | 'refused'

  constructor(options: ExecutionOptions) {
    this.#options = options
    this.run = options.run
    this.#check = options.unchecked === true ? 'unchecked' : 'none'
    const resumed = options.before?.at(-1)
    if (options.before !== undefined) this.#fold.addRecorded(options.before)
    this.#recorder = new RunRecorder({
      ...options,
      resumed: resumed?.type === 'run_resumed' ? resumed : undefined,
      onRefused: () => this.cancel('session_deleted'),
      onFailure: (error) => this.fail(error),
    })
    const { run } = options.bounds
    this.#timers = new RunTimers(
      options,
      () => this.cancel('timeout'),
      () => this.fail(runLimit('run.time', shownDuration(run.timeMs), 'It ran longer')),
    )
    this.#intake = new RunIntake({
      ...options,
      fold: this.#fold,
      recorder: this.#recorder,
      isOver: () => this.ended,
      onTokens: (tokens) => this.#spendTokens(tokens),
      onEvent: () => this.touch(),
    })
    this.#tokens = this.#fold.usage?.total_tokens ?? 0
    this.#state = new RunState(options.state, options.bounds.stateBytes)
    this.done = new Promise((resolve, reject) => {
      this.#resolveDone = resolve
      this.#rejectDone = reject
    })
    this.done.catch(() => {})
  }

  get log(): RunLog {
    return this.#recorder.log
  }

  /** Begins to run now. Nothing is visible to readers before `startIsDurable`. */
  begin(): void {
    if (this.ended) return
    if (this.run.status === 'queued') {
      this.run.status = 'running'
      this.run.started_at = timestamp(this.#options.clock())
    }
    this.startClock()
    this.#timers.startWork()
    this.#recorder.start()
    void this.#drive()
  }

  /** Starts the time limits. A foreground run's waiting in its session's queue counts, so it may be called before `begin`. */
  startClock(): void {
    if (!this.ended) this.#timers.start()
  }

  get fence(): number {
    return this.#recorder.fence
  }

  startIsDurable(fence: number): void {
    this.#recorder.startIsDurable(fence)
  }

  /** The start was not accepted: stops without a record, since there is none. */
  discard(error: unknown): void {
    this.#discarded = true
    this.#stop()
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
    this.#end({ status: 'failed', error: toRunError(error) })
  }

  /** Something happens in it, or in a run inside it, so that it is not silent. */
  touch(): void {
    this.#timers.resetIdleTimer()
    this.parent?.touch()
  }

  passInput(parts: readonly Part[]): void {
    if (this.#check !== 'unchecked' || !isSame(parts, this.#options.input.parts)) return
    this.#check = 'passed'
    this.#recorder.inputIsChecked()
  }

  /** For the runs around it too, as far as it is their input. */
  refuseInput(parts: readonly Part[]): void {
    if (!isSame(parts, this.#options.input.parts)) return
    this.#check = 'refused'
    this.run.messages = this.run.messages.map(refuseMessage)
    this.parent?.refuseInput(parts)
  }

  /** Itself and the runs around it whose input is refused. */
  get #refused(): string[] {
    if (this.#check !== 'refused') return []
    return [this.run.run_id, ...(this.parent === undefined ? [] : this.parent.#refused)]
  }

  get parent(): RunExecution | undefined {
    return this.#options.parent
  }

  get runnable(): Runnable {
    return this.#options.runnable
  }

  get context(): ExecutionOptions['context'] {
    return this.#options.context
  }

  get turns(): ExecutionOptions['turns'] {
    return this.#options.turns
  }

  /** The number of the first event since it began, or went on. */
  get firstSeq(): number {
    return this.#options.before?.at(-1)?.seq ?? 1
  }

  /** Ends with every outcome but `completed`. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Why it was cancelled, from that moment on. */
  get reason(): CancellationReason | undefined {
    return this.#reason
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
    const { runnable, input, context, startChild } = this.#options
    try {
      const loading = this.#state.load()
      if (loading !== undefined) await loading
      if (this.ended) return
      const full: RunContext = Object.assign(Object.create(null) as object, context, {
        signal: this.#abort.signal,
        state: this.#state.value,
        recorded: () => this.#recorder.recorded(),
        [inputCheck]: this,
        child: (...call: Parameters<RunContext['child']>) => startChild(this, this.#state.value, ...call),
      })
      for await (const emission of runnable.run(input, full)) {
        if (this.ended) return
        const wait = this.#take(emission)
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
    const { code, message, runId } = toAppError(error)
    // Said by the runnable of its own run: it was refused what it asked for, or could go on later.
    if (code === 'run_cancelled' && runId === undefined) {
      this.cancel(message)
      return
    }
    if (code === 'run_interrupted' && runId === undefined) {
      this.#end({ status: 'interrupted', error: { code, message } })
      return
    }
    this.fail(error)
    this.#options.logger.warn({ error, run_id: this.run.run_id, entity_id: this.run.entity_id }, 'run failed')
  }

  /** What can't be taken ends the run here, since the runnable may never end when it is told to. */
  #take(emission: Emission): Promise<void> | undefined {
    try {
      return this.#intake.take(emission)
    } catch (error) {
      this.#failWith(error)
      return undefined
    }
  }

  /** Tokens count for the outermost run, which ends with all that is inside it. */
  #spendTokens(tokens: number): void {
    if (this.parent !== undefined) {
      this.parent.#spendTokens(tokens)
      return
    }
    this.#tokens += tokens
    const most = this.#options.bounds.run.tokens
    if (most === undefined || this.#tokens <= most) return
    this.fail(runLimit('run.tokens', String(most), `It has used ${this.#tokens} tokens, including its child runs`))
  }

  #end(outcome: Outcome): void {
    if (this.#ending !== undefined) return
    this.#stop()
    this.#reason = outcome.reason
    this.#ending = this.#record(outcome).catch((error: unknown) => this.#giveUp(error))
  }

  #stop(): void {
    this.#recorder.stop()
    this.#timers.clear()
  }

  // The run itself changes when its end is durable, so that nobody is shown an end that may be lost.
  async #record(outcome: Outcome): Promise<void> {
    const { run } = this
    // What nobody has let pass is told to nobody.
    if (this.#check === 'unchecked' && outcome.status !== 'input_required') {
      this.#check = 'refused'
      run.messages = run.messages.map(refuseMessage)
    }
    const completedAt = timestamp(this.#options.clock())
    const messages = [...run.messages, ...this.#fold.messages(run.run_id, createId('msg'), completedAt)]
    if (outcome.status !== 'completed') {
      this.#abort.abort(new AppError('run_cancelled', `The run was stopped: ${outcome.reason ?? outcome.status}.`))
    }
    while (this.#recorder.appending !== undefined) await this.#recorder.appending
    this.#recorder.start()
    const ended: RunRecord = {
      ...run,
      status: outcome.status,
      messages,
      completed_at: completedAt,
      cancellation_reason: outcome.reason ?? null,
      error: outcome.error ?? null,
      usage: this.#fold.usage,
      sources: this.#fold.sources,
      end_seq: this.#recorder.takeNumber(),
    }
    const { store, logger, onEnd } = this.#options
    const checked =
      this.#check === 'passed'
        ? { checked: true }
        : this.#check === 'refused' && outcome.status !== 'input_required'
          ? { refused: this.#refused }
          : undefined
    const finished = await recordEnd({
      store,
      logger,
      end: { ...toEnd(ended, this.fence, this.#recorder.takeHeld(), this.#state.changed()), ...checked },
      fence: () => this.fence,
      bare: () => {
        Object.assign(ended, { status: 'failed', error: unrecordable, messages: run.messages, sources: [] })
        return { ...toEnd(ended, this.fence, [], undefined), ...checked }
      },
      isDiscarded: () => this.#discarded,
      onFailure: (error) => this.#tellFailure(error),
    })
    if (finished === 'missing') Object.assign(ended, deletedWithSession)
    if (finished !== undefined) this.#tellEnd(ended)
    else if (!this.#discarded) onEnd(this)
  }

  /** Nothing more can be done for its record; whoever waits for it is told, and its session goes on. */
  #giveUp(error: unknown): void {
    if (this.#discarded) return
    this.#tellFailure(error)
    this.#options.onEnd(this)
    this.#options.logger.error({ error, run_id: this.run.run_id }, 'a run could not be ended')
  }

  #tellEnd(ended: RunRecord): void {
    const { run } = this
    run.status = ended.status
    run.messages = ended.messages
    run.completed_at = ended.completed_at
    run.cancellation_reason = ended.cancellation_reason
    run.error = ended.error
    run.usage = ended.usage
    run.sources = ended.sources
    run.end_seq = ended.end_seq
    this.#recorder.end(run)
    this.#resolveDone(run)
    this.#options.onEnd(this)
  }

  #tellFailure(error: unknown): void {
    const failure = aboutRun(error, this.run)
    this.log.close(failure)
    this.#rejectDone(failure)
  }
}

function isSame(one: readonly Part[], other: readonly Part[]): boolean {
  return one === other || isDeepStrictEqual(one, other)
}

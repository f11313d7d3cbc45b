import { AppError, toAppError } from '../core/error.ts'
import type { EmittedEvent, ModelCallStart } from '../core/event.ts'
import { createId } from '../core/id.ts'
import type { CancellationReason, RunRecord } from '../core/run.ts'
import type { Emission, RunContext, Runnable } from '../core/runnable.ts'
import type { RunEnd } from '../core/store.ts'
import { timestamp } from '../core/time.ts'
import { toEvent } from './emission.ts'
import type { ExecutionOptions, Outcome } from './execution-options.ts'
import { aboutRun, deletedWithSession, mayPass, toEnd, toRunError, unrecordable } from './run-end.ts'
import { RunFold } from './run-fold.ts'
import { RunLimits } from './run-limits.ts'
import type { RunLog } from './run-log.ts'
import { RunRecorder } from './run-recorder.ts'
import { RunState } from './run-state.ts'

const turnLimit = 256
const retryEndMs = 500

/**
 * One run under way: drives the runnable, numbers and records what it emits, and ends it once. Readers follow `log`;
 * none of them drives anything. `done` resolves with the record when the end is durable.
 */
export class RunExecution {
  readonly run: RunRecord
  readonly done: Promise<RunRecord>
  readonly #options: ExecutionOptions
  readonly #recorder: RunRecorder
  readonly #limits: RunLimits
  readonly #state: RunState
  readonly #fold = new RunFold()
  readonly #abort = new AbortController()
  #resolveDone: (run: RunRecord) => void = () => {}
  #rejectDone: (error: unknown) => void = () => {}
  #ending: Promise<void> | undefined
  #turn = 0
  #discarded = false
  #asked = false
  #reason: CancellationReason | undefined

  constructor(options: ExecutionOptions) {
    this.#options = options
    this.run = options.run
    const resumed = options.before?.at(-1)
    if (options.before !== undefined) this.#fold.addRecorded(options.before)
    this.#recorder = new RunRecorder({
      ...options,
      resumed: resumed?.type === 'run_resumed' ? resumed : undefined,
      onRefused: () => this.cancel('session_deleted'),
      onFailure: (error) => this.fail(error),
    })
    this.#limits = new RunLimits(options, () => this.cancel('timeout'))
    this.#state = new RunState(options.state)
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
    this.#recorder.start()
    void this.#drive()
  }

  /** Starts the time limits. A foreground run's waiting in its session's queue counts, so it may be called before `begin`. */
  startClock(): void {
    if (!this.ended) this.#limits.start()
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
  heard(): void {
    this.#limits.heard()
    this.parent?.heard()
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
        child: (...call: Parameters<RunContext['child']>) => startChild(this, this.#state.value, ...call),
      })
      for await (const emission of runnable.run(input, full)) {
        if (this.ended) return
        const wait = this.#emit(emission)
        if (wait !== undefined) await wait
        if (this.ended) return
      }
      this.#state.assertJson()
      this.#end({ status: this.#asked ? 'input_required' : 'completed' })
    } catch (error) {
      if (this.ended) return
      const { code, message, runId } = toAppError(error)
      // Said by the runnable of its own run: it was refused what it asked for, or could go on later.
      if (code === 'run_cancelled' && runId === undefined) return this.cancel(message)
      if (code === 'run_interrupted' && runId === undefined)
        return this.#end({ status: 'interrupted', error: { code, message } })
      this.#options.logger.warn({ error, run_id: this.run.run_id, entity_id: this.run.entity_id }, 'run failed')
      this.fail(error)
    }
  }

  #emit(emission: Emission): Promise<void> | undefined {
    if (emission === '') return undefined
    const body = toEvent(emission)
    return body.type === 'model_call_start' ? this.#addCall(body) : this.#add(body)
  }

  async #addCall(call: ModelCallStart): Promise<void> {
    const recorded = await this.#options.prompts.record(call)
    if (!this.ended) await this.#add(recorded)
  }

  #add(body: EmittedEvent): Promise<void> | undefined {
    if (body.type === 'input_required') this.#asked = true
    this.#fold.add(body)
    const wait = this.#recorder.add(body)
    this.heard()
    if (wait !== undefined) return wait
    this.#turn++
    return this.#turn % turnLimit === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined
  }

  #end(outcome: Outcome): void {
    if (this.#ending !== undefined) return
    this.#stop()
    this.#reason = outcome.reason
    this.#ending = this.#record(outcome)
  }

  #stop(): void {
    this.#recorder.stop()
    this.#limits.clear()
  }

  // The run itself changes when its end is durable, so that nobody is shown an end that may be lost.
  async #record(outcome: Outcome): Promise<void> {
    const { run } = this
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
    await this.#recordUntilDurable(ended, toEnd(ended, this.fence, this.#recorder.takeHeld(), this.#state.changed()))
  }

  async #recordUntilDurable(ended: RunRecord, whole: RunEnd): Promise<void> {
    const { store, logger, onEnd } = this.#options
    let end = whole
    let told = false
    let bare = false
    while (true) {
      try {
        end.fence = this.fence
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
          end = toEnd(ended, this.fence, [], undefined)
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

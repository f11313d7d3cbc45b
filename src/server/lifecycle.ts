import { parseDuration } from '../core/duration.ts'
import { AppError } from '../core/error.ts'
import type { Logger } from '../core/logger.ts'
import type { Bound } from '../http/listen.ts'
import { pause, within } from '../runtime/abort.ts'
import type { ShutdownOptions } from './types.ts'

const lastEventsMs = 1_000
/** For requests on connections that were accepted last. */
const lastRequestsMs = 500
const minDisposeMs = 2_000

/** Registers a release for when the server closes, in reverse order. */
export type OnClose = (release: () => Promise<void>) => void

/** What the server does at each step of its life. */
export interface LifecycleSteps {
  open(onClose: OnClose): Promise<void>
  /** Called once after `open`: resumes the work of an earlier process. */
  takeUp(): Promise<void>
  /** Called before anything is opened; throws when the configuration forbids listening. */
  assertMayListen(): unknown
  listen(): Promise<Bound>
  /** Publishes the address for other commands. */
  announce(bound: Bound, onClose: OnClose): Promise<void>
  /** Called once connections are accepted. */
  onListening(): unknown
  /** Tells clients that this server will stop; it still answers. */
  startDraining(): void
  /** No new connections; requests that are on their way are answered. */
  stopAccepting(): void
  /** Ends active runs, at the latest after the deadline. May be called again with a shorter one. */
  endRuns(deadlineMs: number): Promise<void>
  closeConnections(deadlineMs: number): Promise<void>
  /** Resolves when background work has ended. */
  idle(): Promise<void>
  /** The last step; it has a time limit. */
  dispose(): Promise<unknown>
}

/** A server's states: starting, open, stopping, closed. Each step runs at most once, however often it is called. */
export class Lifecycle {
  readonly #steps: LifecycleSteps
  readonly #logger: Logger
  readonly #deadlineMs: number
  readonly #stopping = new AbortController()
  readonly #ready = Promise.withResolvers<Bound>()
  readonly #finished = Promise.withResolvers<void>()
  readonly #releases: (() => Promise<void>)[] = []
  readonly #onClose: OnClose = (release) => void this.#releases.push(release)
  #opened: Promise<void> | undefined
  #bound: Promise<Bound> | undefined
  #closed: Promise<void> | undefined
  #failure: { cause: unknown } | undefined
  #isOpen = false
  #isDraining = false
  #isServing = false

  /** `deadlineMs`: how long runs may take to end, unless `shutdown` says. */
  constructor(steps: LifecycleSteps, logger: Logger, deadlineMs: number) {
    this.#steps = steps
    this.#logger = logger
    this.#deadlineMs = deadlineMs
    this.#ready.promise.catch(() => {})
    this.#finished.promise.catch(() => {})
  }

  get phase(): 'starting' | 'open' | 'stopping' {
    if (this.signal.aborted || this.#isDraining) return 'stopping'
    return this.#isOpen ? 'open' : 'starting'
  }

  /** Whether the earlier process's work is resumed, so that requests are answered at once. */
  get isServing(): boolean {
    return this.#isServing
  }

  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** The address, once connections are accepted. */
  get ready(): Promise<Bound> {
    return this.#ready.promise
  }

  async serve(): Promise<void> {
    await this.#open()
    await this.#takeUp()
  }

  /** Listens. Resolves when the server has closed; rejects when it could not start or has failed. */
  async start(): Promise<void> {
    try {
      this.#bound ??= this.#listen()
      this.#ready.resolve(await this.#bound)
      this.#steps.onListening()
    } catch (error) {
      this.#ready.reject(error)
      if (!this.signal.aborted) this.fail(error)
    }
    return this.#finished.promise
  }

  /** Closes the server at once; `start` rejects with the cause. */
  fail(cause: unknown): void {
    this.#failure ??= { cause }
    if (this.#closed !== undefined) void this.#steps.endRuns(0)
    else void this.#close(0)
  }

  async shutdown({ deadline, signal, drain }: ShutdownOptions = {}): Promise<void> {
    await this.#drain(parseDuration(drain) ?? 0, signal)
    const deadlineMs = signal?.aborted === true ? 0 : (parseDuration(deadline) ?? this.#deadlineMs)
    if (this.#closed !== undefined && this.#isOpen) void this.#steps.endRuns(deadlineMs)
    const closing = this.#close(deadlineMs)
    if (signal === undefined) return closing
    const hurry = () => void this.#steps.endRuns(0)
    signal.addEventListener('abort', hurry, { once: true })
    await closing.finally(() => signal.removeEventListener('abort', hurry))
  }

  /** Ends early when the signal aborts, or the server closes otherwise. */
  async #drain(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (ms === 0 || !this.#isOpen || this.#closed !== undefined) return
    this.#isDraining = true
    const stopped = signal === undefined ? this.signal : AbortSignal.any([signal, this.signal])
    this.#steps.startDraining()
    const lastMs = Math.min(lastRequestsMs, ms / 2)
    await pause(ms - lastMs, stopped).catch(() => {})
    if (stopped.aborted) return
    this.#steps.stopAccepting()
    await pause(lastMs, stopped).catch(() => {})
  }

  #open(): Promise<void> {
    this.#opened ??= (async () => {
      this.#assertNotStopping()
      await this.#steps.open(this.#onClose)
      this.#isOpen = true
    })()
    return this.#opened
  }

  /** Only after this process is certain to serve. */
  async #takeUp(): Promise<void> {
    if (!this.#isOpen || this.#isServing || this.signal.aborted) return
    this.#isServing = true
    await this.#steps.takeUp()
  }

  async #listen(): Promise<Bound> {
    this.#steps.assertMayListen()
    await this.#open()
    this.#assertNotStopping()
    const bound = await this.#steps.listen()
    this.#assertNotStopping()
    const takenUp = this.#takeUp()
    await this.#steps.announce(bound, this.#onClose)
    await takenUp
    return bound
  }

  #assertNotStopping(): void {
    if (this.signal.aborted) throw stopped()
  }

  #close(deadlineMs: number): Promise<void> {
    this.#closed ??= this.#closeParts(deadlineMs)
    return this.#closed
  }

  async #closeParts(deadlineMs: number): Promise<void> {
    this.#stopping.abort()
    const endsAt = performance.now() + deadlineMs
    await this.#bound?.catch(() => {})
    const connections = this.#steps.closeConnections(deadlineMs + lastEventsMs)
    await this.#opened?.catch(() => {})
    if (this.#isOpen) await this.#steps.endRuns(deadlineMs)
    await connections
    await this.#steps.idle()
    for (const release of this.#releases.toReversed()) {
      await release().catch((error: unknown) => this.#logger.error({ error }, 'closing failed'))
    }
    const ms = Math.max(minDisposeMs, endsAt - performance.now())
    const late = () => new Error('It did not end in time.')
    await within(() => this.#steps.dispose(), { ms, late }).catch((error: unknown) =>
      this.#logger.error({ error }, 'dispose failed'),
    )
    if (this.#failure === undefined) this.#finished.resolve()
    else this.#finished.reject(this.#failure.cause)
    this.#ready.reject(this.#failure?.cause ?? stopped())
  }
}

function stopped(): AppError {
  return new AppError('unavailable', 'The server has been shut down.')
}

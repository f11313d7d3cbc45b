import { AppError } from '../../core/error.ts'

export interface DeadlineOptions {
  /** The caller's. */
  signal?: AbortSignal | undefined
  timeoutMs: number | undefined
  /** The name of the server in error messages. */
  name: string
}

/** Ends one call by its caller's signal, its time limit or the client's `close`. Holds no resources after `release` or `end`. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #forward = () => this.end(this.#outer?.reason)
  readonly #timer: NodeJS.Timeout | undefined
  #ended: (() => void) | undefined

  /** `ended` is called once, on `release` or `end`. */
  constructor({ signal, timeoutMs, name }: DeadlineOptions, ended: (limit: Deadline) => void) {
    this.#outer = signal
    this.#ended = () => ended(this)
    if (signal?.aborted) this.end(signal.reason)
    else signal?.addEventListener('abort', this.#forward, { once: true })
    if (timeoutMs === undefined) return
    this.#timer = setTimeout(
      () => this.end(new AppError('timeout', `${name} did not answer within ${timeoutMs} ms.`)),
      timeoutMs,
    )
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Stops the time limit: the answer has begun. */
  stopClock(): void {
    clearTimeout(this.#timer)
  }

  /** Releases all resources after the call has ended. */
  release(): void {
    this.stopClock()
    this.#outer?.removeEventListener('abort', this.#forward)
    this.#ended?.()
    this.#ended = undefined
  }

  /** Releases all resources and aborts the call with this reason. */
  end(reason?: unknown): void {
    this.release()
    this.#controller.abort(reason)
  }
}

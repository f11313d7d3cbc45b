import { AppError } from '../../core/error.ts'

export interface DeadlineOptions {
  /** The caller's. */
  signal?: AbortSignal | undefined
  timeoutMs: number | undefined
  /** What errors call the other end. */
  name: string
}

/** What can end one call: its caller's signal, its time limit, the client's `close`. Nothing of it outlives `release` and `end`. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #forward = () => this.end(this.#outer?.reason)
  readonly #timer: NodeJS.Timeout | undefined
  #ended: (() => void) | undefined

  /** `ended` is called once, when it is let go of. */
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

  /** The answer has begun, and may take its time. */
  stopClock(): void {
    clearTimeout(this.#timer)
  }

  /** Lets go of everything; nothing is open any more. */
  release(): void {
    this.stopClock()
    this.#outer?.removeEventListener('abort', this.#forward)
    this.#ended?.()
    this.#ended = undefined
  }

  /** Lets go of everything and cuts what is still open, with this reason. */
  end(reason?: unknown): void {
    this.release()
    this.#controller.abort(reason)
  }
}

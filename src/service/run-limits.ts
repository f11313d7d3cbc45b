export interface Limits {
  /** Of the whole run, from its start. */
  timeoutMs: number | undefined
  /** Of silence between two events. */
  idleTimeoutMs: number | undefined
}

/** The time that one run is given. */
export class RunLimits {
  readonly #limits: Limits
  readonly #onTimeout: () => void
  #deadline: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(limits: Limits, onTimeout: () => void) {
    this.#limits = limits
    this.#onTimeout = onTimeout
  }

  /** Does nothing when they have begun. */
  start(): void {
    const { timeoutMs, idleTimeoutMs } = this.#limits
    if (timeoutMs !== undefined) this.#deadline ??= setTimeout(this.#onTimeout, timeoutMs)
    if (idleTimeoutMs !== undefined) this.#idle ??= setTimeout(this.#onTimeout, idleTimeoutMs)
  }

  /** Something happened: the silence begins anew. */
  heard(): void {
    this.#idle?.refresh()
  }

  clear(): void {
    clearTimeout(this.#deadline)
    clearTimeout(this.#idle)
  }
}

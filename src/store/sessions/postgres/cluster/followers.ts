/** How long an instance follows a run after it has said so: it says so every second. */
const silenceMs = 3_000

/** Whether a run of this instance has followers: again each time that one of them says so. */
export type TellOwner = (kind: 'followed' | 'unfollowed', runId: string) => void

/** Who follows runs of this instance. */
export class Followers {
  /** By run and instance, until when. */
  readonly #runs = new Map<string, Map<number, number>>()
  readonly #tell: (instance: number, runId: string) => void
  readonly #tellOwner: TellOwner
  #sweep: NodeJS.Timeout | undefined

  constructor(tell: (instance: number, runId: string) => void, tellOwner: TellOwner) {
    this.#tell = tell
    this.#tellOwner = tellOwner
  }

  get size(): number {
    return this.#runs.size
  }

  /** A new follower is told at once: it may have missed what came while it asked. */
  add(instance: number, runIds: readonly string[]): void {
    const until = performance.now() + silenceMs
    for (const runId of runIds) {
      const instances = this.#runs.get(runId) ?? new Map<number, number>()
      this.#runs.set(runId, instances)
      if (!instances.has(instance)) this.#tell(instance, runId)
      instances.set(instance, until)
      this.#tellOwner('followed', runId)
    }
    if (this.#sweep === undefined && this.#runs.size > 0) this.#sweepLater()
  }

  recorded(runId: string): void {
    const instances = this.#runs.get(runId)
    if (instances === undefined) return
    for (const instance of instances.keys()) this.#tell(instance, runId)
  }

  clear(): void {
    const runIds = [...this.#runs.keys()]
    this.#runs.clear()
    for (const runId of runIds) this.#tellOwner('unfollowed', runId)
    clearTimeout(this.#sweep)
    this.#sweep = undefined
  }

  #sweepLater(): void {
    this.#sweep = setTimeout(() => this.#forgetSilent(), silenceMs).unref()
  }

  #forgetSilent(): void {
    this.#sweep = undefined
    const now = performance.now()
    for (const [runId, instances] of this.#runs) {
      for (const [instance, until] of instances) if (until <= now) instances.delete(instance)
      if (instances.size > 0) continue
      this.#runs.delete(runId)
      this.#tellOwner('unfollowed', runId)
    }
    if (this.#runs.size > 0) this.#sweepLater()
  }
}

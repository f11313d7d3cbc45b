import type { StoreCluster } from '../../core/cluster/cluster.ts'
import { logLevelOf } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { Recovered } from '../../core/store.ts'
import { type Clock, timestamp } from '../../core/time.ts'
import type { Monotonic } from './lease.ts'

const runsAtOnce = 100
/** Runs that another instance is just taking over are not found. */
const againMs = 15_000

export interface TakeoverOptions {
  cluster: Pick<StoreCluster, 'takeOver'>
  clock: Clock
  now: Monotonic
  logger: Logger
  /** Whether this instance may take over now. */
  may: () => boolean
  adopt: (queued: Recovered['queued']) => void
  /** The instance is out of the way: other work that it has left is free. */
  onDone: () => void
}

/** Takes over the runs of instances that are dead or have left. */
export class Takeover {
  /** Runs taken over so far. */
  count = 0
  readonly #options: TakeoverOptions
  readonly #working = new Map<number, Promise<void>>()
  readonly #lookedMs = new Map<number, number>()

  constructor(options: TakeoverOptions) {
    this.#options = options
  }

  /** Looks at these instances, unless that was done a short while ago. */
  look(peers: readonly number[]): void {
    for (const key of this.#lookedMs.keys()) if (!peers.includes(key)) this.#lookedMs.delete(key)
    for (const key of peers) {
      const lookedMs = this.#lookedMs.get(key)
      if (lookedMs === undefined || this.#options.now() - lookedMs >= againMs) this.begin(key)
    }
  }

  begin(key: number): void {
    if (!this.#options.may() || this.#working.has(key)) return
    this.#lookedMs.set(key, this.#options.now())
    const working = this.#takeOver(key)
      .catch((error: unknown) => {
        // The next beat tries again.
        this.#lookedMs.delete(key)
        this.#options.logger[logLevelOf(error)](
          { error, instance: key },
          'the runs of an instance could not be taken over',
        )
      })
      .finally(() => this.#working.delete(key))
    this.#working.set(key, working)
  }

  async idle(): Promise<void> {
    await Promise.all(this.#working.values())
  }

  async #takeOver(key: number): Promise<void> {
    const { cluster, clock, logger, may, adopt, onDone } = this.#options
    let interrupted = 0
    let waiting = 0
    while (may()) {
      const taken = await cluster.takeOver(key, timestamp(clock()), runsAtOnce)
      if (taken.interrupted.length === 0 && taken.queued.length === 0) break
      interrupted += taken.interrupted.length
      waiting += taken.queued.length
      this.count += taken.interrupted.length + taken.queued.length
      adopt(taken.queued)
    }
    onDone()
    if (interrupted + waiting === 0) return
    logger.warn({ instance: key, interrupted, waiting }, 'took over the runs of an instance that is gone')
  }
}

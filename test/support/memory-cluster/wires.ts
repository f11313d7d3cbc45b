import type { StoreChange, Wake } from '../../../src/core/cluster/cluster.ts'

/** What one store hears of the others. */
export interface Ear {
  /** Of the instance that joined last; undefined: none has. */
  owner: string | undefined
  isDeaf: boolean
  wake: (wake: Wake) => void
  change: ((change: StoreChange) => void) | undefined
  follows: Set<string>
}

// Tests may replace the timers of the process.
const later = setImmediate

/** Carries hints between stores, each in a turn of its own. What a deaf store is told is lost. */
export class Wires {
  readonly #ears = new Set<Ear>()

  add(): Ear {
    const ear: Ear = { owner: undefined, isDeaf: false, wake: () => {}, change: undefined, follows: new Set() }
    this.#ears.add(ear)
    return ear
  }

  wake(owner: string | undefined, wake: Wake): void {
    for (const ear of this.#ears) if (ear.owner === owner && owner !== undefined) this.#send(ear, wake)
  }

  wakeFollowers(runId: string): void {
    for (const ear of this.#ears) if (ear.follows.has(runId)) this.#send(ear, { kind: 'events', run_id: runId })
  }

  isFollowed(runId: string): boolean {
    return [...this.#ears].some(({ follows }) => follows.has(runId))
  }

  wakeOthers(self: Ear, wake: Wake): void {
    for (const ear of this.#ears) if (ear !== self && ear.owner !== undefined) this.#send(ear, wake)
  }

  isWatchedBesides(self: Ear): boolean {
    return [...this.#ears].some((ear) => ear !== self && ear.change !== undefined)
  }

  publish(self: Ear, change: StoreChange): void {
    for (const ear of this.#ears) if (ear !== self && !ear.isDeaf) later(() => ear.change?.(change))
  }

  /** Tells a store that it may have missed something. */
  miss(ear: Ear): void {
    this.#send(ear, { kind: 'missed' })
    later(() => ear.change?.({ kind: 'missed' }))
  }

  #send(ear: Ear, wake: Wake): void {
    if (!ear.isDeaf) later(() => ear.wake(wake))
  }
}

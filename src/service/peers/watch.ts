import type { Peer } from '../../core/cluster/cluster.ts'
import type { Monotonic } from './lease.ts'

/** The beats of the other instances, by the clock of this one. */
export class PeerWatch {
  readonly #now: Monotonic
  #seen = new Map<number, { beat: string; sinceMs: number }>()

  constructor(now: Monotonic) {
    this.#now = now
  }

  /** Takes what a beat of this instance brought. Gives the peers whose beat has not changed for as long as they say. */
  see(peers: readonly Peer[]): Peer[] {
    const nowMs = this.#now()
    const before = this.#seen
    this.#seen = new Map()
    const silent: Peer[] = []
    for (const peer of peers) {
      const known = before.get(peer.key)
      const sinceMs = known?.beat === peer.beat ? known.sinceMs : nowMs
      this.#seen.set(peer.key, { beat: peer.beat, sinceMs })
      if (nowMs - sinceMs >= peer.deadAfterMs) silent.push(peer)
    }
    return silent
  }

  /** Nothing was seen for a while: the silence of a peer may be that of this instance. */
  restart(): void {
    this.#seen.clear()
  }
}

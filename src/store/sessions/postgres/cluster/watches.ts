import type { StoreChange } from '../../../../core/cluster/cluster.ts'
import { endsWithin } from '../../../../runtime/abort.ts'
import type { Line } from './lines.ts'

const repeatMs = 1_000
const silenceMs = 3_000

type Tell = (instance: number, line: Line) => void

/** Who watches changes of the store, and what this instance is told of others. */
export class Watches {
  readonly #tell: Tell
  readonly #peers: () => Iterable<number>
  readonly #meet: () => Promise<void>
  /** Who watches, and until when. */
  readonly #watchers = new Map<number, number>()
  /** Who has not said so for too long, and was told nothing since. */
  readonly #lapsed = new Set<number>()
  /** Who knows that this instance watches. */
  readonly #knowing = new Set<number>()
  #listener: ((change: StoreChange) => void) | undefined
  /** Set while `watch` waits until all know of it. */
  #known: (() => void) | undefined
  #isDeaf = true
  #repeat: NodeJS.Timeout | undefined

  /** `meet`: afterwards `peers` has all of this moment. */
  constructor(tell: Tell, peers: () => Iterable<number>, meet: () => Promise<void>) {
    this.#tell = tell
    this.#peers = peers
    this.#meet = meet
  }

  get isWatched(): boolean {
    if (this.#watchers.size === 0) return false
    const now = performance.now()
    for (const [instance, until] of this.#watchers) {
      if (until > now) continue
      this.#watchers.delete(instance)
      this.#lapsed.add(instance)
    }
    return this.#watchers.size > 0
  }

  publish(change: StoreChange): void {
    if (!this.isWatched) return
    for (const watcher of this.#watchers.keys()) this.#tell(watcher, { kind: 'change', change })
  }

  /** Resolves when all peers know of it, or after a second. */
  async watch(listener: (change: StoreChange) => void): Promise<void> {
    this.#listener = listener
    this.#repeat ??= setInterval(() => this.#remind(), repeatMs).unref()
    const known = Promise.withResolvers<void>()
    this.#known = known.resolve
    await this.#meet()
    this.#sayWatch()
    if (!this.#allKnow()) await endsWithin(known.promise, repeatMs)
    this.#known = undefined
  }

  unwatch(): void {
    if (this.#listener === undefined) return
    this.#listener = undefined
    this.#stop()
    for (const peer of this.#peers()) this.#tell(peer, { kind: 'unwatch' })
  }

  /** Under its new key nobody knows this instance. */
  restart(): void {
    this.#knowing.clear()
    this.#watchers.clear()
    this.#lapsed.clear()
    if (this.#listener !== undefined) this.#sayWatch()
  }

  close(): void {
    this.#listener = undefined
    this.#watchers.clear()
    this.#stop()
  }

  set isDeaf(isDeaf: boolean) {
    this.#isDeaf = isDeaf
    this.#listener?.({ kind: 'missed' })
  }

  missed(): void {
    this.#listener?.({ kind: 'missed' })
  }

  heard(from: number, line: Line): void {
    switch (line.kind) {
      case 'hello':
        if (this.#listener !== undefined) this.#tell(from, { kind: 'watch' })
        break
      case 'watch':
        this.#watchers.set(from, performance.now() + silenceMs)
        if (this.#lapsed.delete(from)) this.#tell(from, { kind: 'missed' })
        this.#tell(from, { kind: 'watching' })
        break
      case 'unwatch':
        this.#watchers.delete(from)
        this.#lapsed.delete(from)
        break
      case 'watching':
        this.#isKnownTo(from)
        break
      case 'change':
        this.#listener?.(line.change)
        break
    }
  }

  #isKnownTo(peer: number): void {
    if (this.#listener === undefined || this.#knowing.has(peer)) return
    this.#knowing.add(peer)
    // What it changed before it knew was told to nobody.
    if (this.#known === undefined) this.#listener({ kind: 'missed' })
    else if (this.#allKnow()) this.#known()
  }

  #allKnow(): boolean {
    return [...this.#peers()].every((peer) => this.#knowing.has(peer))
  }

  #remind(): void {
    this.#sayWatch()
    if (this.#isDeaf) this.missed()
  }

  #sayWatch(): void {
    for (const peer of this.#peers()) this.#tell(peer, { kind: 'watch' })
  }

  #stop(): void {
    clearInterval(this.#repeat)
    this.#repeat = undefined
    this.#knowing.clear()
    this.#known?.()
  }
}

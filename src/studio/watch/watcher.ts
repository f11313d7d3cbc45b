import { effect, signal } from '@preact/signals'
import type { Studio } from '../state/studio.ts'
import { Watched } from './watched.ts'

const watchers = new WeakMap<Studio, Watcher>()

/** The one of this page. It begins when it is first asked for. */
export function watcherOf(studio: Studio): Watcher {
  const watcher = watchers.get(studio) ?? new Watcher(studio)
  watchers.set(studio, watcher)
  return watcher
}

/** Asks the pinned turns again after each save that the server could load, in one window of a browser. */
class Watcher {
  /** Whether this window is the one. */
  readonly isHere = signal(false)
  readonly savedAt = signal<Date | undefined>(undefined)
  readonly turns = signal<readonly Watched[]>([])
  /** Of turns that are not watched any more. */
  readonly #spent = signal(0)
  readonly #studio: Studio
  #seen: number
  #chats: Studio['chats'] | undefined
  /** While something is pinned: this window holds the lock, or waits for it. */
  #holding: AbortController | undefined

  constructor(studio: Studio) {
    this.#studio = studio
    this.#seen = studio.saves.peek()
    effect(() => this.#pinned(studio.pins.ids.value))
    effect(() => this.#saved())
  }

  /** How many calls of models the saves have cost. */
  get calls(): number {
    return this.turns.value.reduce((sum, { calls }) => sum + calls, this.#spent.value)
  }

  async askAll(): Promise<void> {
    this.savedAt.value = new Date()
    await Promise.all(this.turns.peek().map((turn) => turn.ask()))
  }

  #pinned(ids: readonly string[]): void {
    const { chats } = this.#studio
    const known = this.turns.peek()
    // With another key nothing of what the last one showed is left.
    const kept = chats === this.#chats ? known.filter(({ turn }) => ids.includes(turn.runId)) : []
    this.#chats = chats
    for (const turn of known) {
      if (kept.includes(turn)) continue
      this.#spent.value = this.#spent.peek() + turn.calls
      turn.close()
    }
    this.turns.value = ids.map((id) => kept.find(({ turn }) => turn.runId === id) ?? new Watched(this.#studio, id))
    if (ids.length === 0) this.#release()
    else if (this.#holding === undefined) this.hold()
  }

  #saved(): void {
    const saves = this.#studio.saves.value
    if (saves === this.#seen) return
    this.#seen = saves
    if (this.isHere.peek()) void this.askAll()
  }

  /** Watches once no other window does, or takes it from the one that does. */
  hold(how: { steal?: true } = {}): void {
    this.#holding?.abort()
    const holding = new AbortController()
    this.#holding = holding
    const { signal } = holding
    const hold = () => {
      this.isHere.value = true
      return new Promise((done) => signal.addEventListener('abort', done, { once: true }))
    }
    // Pages over plain http from another machine have no locks: each window watches for itself.
    const { locks } = navigator as Partial<Navigator>
    const name = `agentserve ${this.#studio.places.path} watch`
    const held = locks === undefined ? hold() : locks.request(name, how.steal ? how : { signal }, hold)
    held
      .catch(() => {
        // Given up, or another window took it. A browser that denies locks has none either.
        return signal.aborted || this.isHere.peek() ? undefined : hold()
      })
      .finally(() => {
        if (this.#holding !== holding) return
        this.isHere.value = false
        this.hold()
      })
  }

  #release(): void {
    this.#holding?.abort()
    this.#holding = undefined
    this.isHere.value = false
  }
}

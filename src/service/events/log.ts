import type { RunEvent } from '../../core/event.ts'
import { isFinalEvent } from '../../core/event.ts'
import { nextLimit, pageFrom } from './pages.ts'

const windowLimit = 4096
/** Events of at least this many characters are counted by size. */
const largeEvent = 4096
const largeLimit = 4 * 1024 * 1024

/** Reads recorded events from the store: `seq > after`, in order. */
export type ReadRecorded = (after: number, limit: number) => Promise<RunEvent[]>

/**
 * The events of one live run. One writer pushes, any number of readers follow from any number; snapshot and attach are
 * one step. Holds the newest events only: a reader that has fallen behind catches up from the record. An event becomes
 * visible when `release` has reached its number, so that nothing leaves before what it rests on is durable.
 */
export class RunLog {
  readonly #readRecorded: ReadRecorded
  #window: RunEvent[] = []
  /** The large events of the window. */
  #large: { seq: number; characters: number }[] = []
  #largeCharacters = 0
  #first: number
  #visible = 0
  #recorded = 0
  /** The newest event that only live readers get, as its batch. */
  #live: readonly RunEvent[] | undefined
  #page: { next: number; visible: number; events: readonly RunEvent[] } | undefined
  #closed = false
  #failure: unknown
  #waiting = new Set<() => void>()
  #wakeScheduled = false

  /** `first`: the number of the first event that will be pushed; what came before is read from the store. */
  constructor(readRecorded: ReadRecorded, first = 1) {
    this.#readRecorded = readRecorded
    this.#first = first
  }

  /** Numbers must grow by one. `characters`: about the size of the event. */
  push(event: RunEvent, characters = 0): void {
    this.#window.push(event)
    this.#live = undefined
    // The first event of a run that was queued may leave since its number was released.
    if (event.seq <= this.#visible) this.#wake()
    if (characters < largeEvent) return
    this.#large.push({ seq: event.seq, characters })
    this.#largeCharacters += characters
  }

  /**
   * Shows an event with the number of the last pushed one to the readers that have read up to it, once. The next event of
   * either kind replaces it.
   */
  offerLive(event: RunEvent): void {
    if (this.#closed) return
    this.#live = [event]
    if (event.seq <= this.#visible) this.#wake()
  }

  /** Lets events up to this number leave. */
  release(seq: number): void {
    if (seq <= this.#visible) return
    this.#visible = seq
    this.#wake()
  }

  /** Events up to this number are in the store, so the window may drop them. */
  recorded(seq: number): void {
    this.#recorded = seq
    const surplus = Math.max(this.#window.length - windowLimit, this.#largeSurplus())
    if (surplus < windowLimit / 2 && this.#largeCharacters <= largeLimit) return
    const count = Math.min(surplus, this.#recorded - this.#first + 1, this.#visible - this.#first + 1)
    if (count <= 0) return
    this.#window = this.#window.slice(count)
    this.#first += count
    this.#page = undefined
    while ((this.#large[0]?.seq ?? this.#first) < this.#first)
      this.#largeCharacters -= this.#large.shift()?.characters ?? 0
  }

  /** How many of the oldest events to drop so that the large ones take half of their limit. */
  #largeSurplus(): number {
    if (this.#largeCharacters <= largeLimit) return 0
    let over = this.#largeCharacters - largeLimit / 2
    for (const { seq, characters } of this.#large) {
      over -= characters
      if (over <= 0) return seq - this.#first + 1
    }
    return this.#window.length
  }

  /** No more events come; readers end after what is visible, or with the failure. */
  close(failure?: unknown): void {
    this.#closed = true
    this.#live = undefined
    this.#failure = failure
    this.#wake()
  }

  /** Events after this number, as many as are there, until the final one. A reader that stops holds nothing. */
  read(after: number): AsyncIterable<readonly RunEvent[]> {
    return { [Symbol.asyncIterator]: () => this.#reader(after) }
  }

  #reader(after: number): AsyncIterator<readonly RunEvent[]> {
    let next = after + 1
    let done = false
    let stop: (() => void) | undefined
    let limit = nextLimit()
    let shown: readonly RunEvent[] | undefined
    const end = { done: true, value: undefined } as const
    return {
      next: async () => {
        while (!done) {
          if (next < this.#first) {
            const events = await this.#readRecorded(next - 1, Math.min(limit, this.#first - next))
            const last = events.at(-1)
            if (last === undefined) next = this.#first
            else {
              next = last.seq + 1
              limit = nextLimit(events)
              return { done: false, value: events }
            }
          } else {
            const events = this.#visibleFrom(next)
            const last = events.at(-1)
            if (last !== undefined) {
              next = last.seq + 1
              if (isFinalEvent(last)) done = true
              return { done: false, value: events }
            }
            const live = this.#liveAfter(next - 1)
            if (live !== undefined && live !== shown) {
              shown = live
              return { done: false, value: live }
            }
            if (this.#closed) {
              if (this.#failure !== undefined) throw this.#failure
              break
            }
            await new Promise<void>((resolve) => {
              stop = resolve
              this.#waiting.add(resolve)
            })
          }
        }
        return end
      },
      return: async () => {
        done = true
        if (stop !== undefined) this.#waiting.delete(stop)
        stop?.()
        return end
      },
    }
  }

  #liveAfter(seq: number): readonly RunEvent[] | undefined {
    return seq <= this.#visible && this.#live?.[0]?.seq === seq ? this.#live : undefined
  }

  /** One page for all readers at the same number. */
  #visibleFrom(next: number): readonly RunEvent[] {
    if (this.#page?.next === next && this.#page.visible === this.#visible) return this.#page.events
    const from = next - this.#first
    let events = pageFrom(this.#window, Math.max(0, from))
    if ((events.at(-1)?.seq ?? 0) > this.#visible) events = events.filter((event) => event.seq <= this.#visible)
    // A released number may not have been pushed yet, so an empty page is not cached.
    if (events.length > 0) this.#page = { next, visible: this.#visible, events }
    return events
  }

  // Once per tick of the event loop, so that a burst of events leaves as one batch.
  #wake(): void {
    if (this.#wakeScheduled || this.#waiting.size === 0) return
    this.#wakeScheduled = true
    setImmediate(() => {
      this.#wakeScheduled = false
      const waiting = this.#waiting
      this.#waiting = new Set()
      for (const resume of waiting) resume()
    })
  }
}

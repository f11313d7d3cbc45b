import { batch, type Signal, signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { RunEvent } from '../../core/event.ts'
import type { Run } from '../../wire/run.ts'
import { motionRestMs } from '../parts/layout/motion.ts'
import type { Turn } from './conversation.ts'
import type { Replayed } from './replayed.ts'
import { RunEvents } from './run/events.ts'
import type { Moment, RunTree } from './run-tree.ts'

/** Of what was not seen meanwhile. */
const longestStepMs = 1000

/** Events with the time of each in ms since 1970, which never goes back. */
interface Recorded {
  events: readonly RunEvent[]
  times: readonly number[]
  /** How many of them are shown. */
  count: number
}

/** Folds the events of a run up to a moment. */
export class Replay implements Replayed {
  readonly isPlaying = signal(false)
  readonly speed = signal(1)
  readonly count = signal(0)
  readonly moment: Moment
  readonly #ms = signal(0)
  readonly #began: number
  readonly #all: Recorded
  readonly #tree: Signal<RunTree>
  /** The runs inside that were unfolded. */
  readonly #inside = new Map<string, Recorded>()
  #frame = 0

  /** Shows its end. `client` reads the runs inside. */
  constructor(whole: RunTree, client: PageClient) {
    const { all, began = 0, durationMs: spanMs, pauses } = whole.root
    this.#began = began
    this.moment = { ms: this.#ms, spanMs, pauses }
    this.#all = recorded(all, this.#began + spanMs)
    this.#tree = signal(whole.withRoot(new RunEvents(), this.moment, this.#readingInside(client)))
    for (const { step, isOpen } of whole.rows.peek()) {
      const events = isOpen === true ? whole.eventsOf(step?.childRunId ?? '')?.all : undefined
      if (events !== undefined) this.#inside.set(step?.childRunId ?? '', recorded(events))
    }
    this.#show(all.length, spanMs)
  }

  get tree(): RunTree {
    return this.#tree.value
  }

  get length(): number {
    return this.#all.events.length
  }

  get isAtEnd(): boolean {
    return this.count.value >= this.length
  }

  runThen<Known extends Run>(run: Known): Known {
    if (this.isAtEnd) return run
    const { status = 'running', usage } = this.tree.root
    const later = {
      cost: null,
      error: null,
      waiting: [],
      cancellation_reason: null,
      completed_at: null,
      cache_hit: false,
    }
    return { ...run, ...later, status, usage }
  }

  turnThen(turn: Turn): Turn {
    if (this.isAtEnd) return turn
    const messages = turn.messages.filter(({ role }) => role === 'user')
    return { run: this.runThen(turn.run), messages, answer: this.tree.root }
  }

  play(): void {
    if (this.isAtEnd) this.#show(1, 0)
    this.isPlaying.value = true
    const restMs = motionRestMs()
    let before = performance.now()
    const move = (now: number) => {
      this.#frame = requestAnimationFrame(move)
      if (now - before <= restMs) return
      // A tab that nobody sees has no frames: it goes on where it was.
      const next = this.#ms.peek() + Math.min(longestStepMs, now - before) * this.speed.peek()
      before = now
      const { spanMs, pauses } = this.moment
      // Nobody wants to wait for another person again.
      const pause = pauses.find(({ fromMs, toMs }) => next > fromMs && next < toMs)
      this.goTo(Math.min(spanMs, pause?.toMs ?? next))
      if (this.isAtEnd) this.pause()
    }
    move(before)
  }

  pause(): void {
    cancelAnimationFrame(this.#frame)
    this.isPlaying.value = false
  }

  goTo(ms: number): void {
    const { times } = this.#all
    const after = times.findIndex((time) => time > this.#began + ms)
    this.#show(after < 0 ? times.length : after, ms)
  }

  step(by: number): void {
    this.pause()
    const count = Math.max(1, Math.min(this.length, this.count.peek() + by))
    this.#show(count, (this.#all.times[count - 1] ?? 0) - this.#began)
  }

  #show(count: number, ms: number): void {
    batch(() => {
      if (count < this.count.peek()) {
        this.#tree.value = this.#tree.peek().withRoot(new RunEvents())
        for (const one of [this.#all, ...this.#inside.values()]) one.count = 0
      }
      const { root } = this.tree
      let isDrawnAnew = false
      for (const event of this.#all.events.slice(this.#all.count, count)) {
        isDrawnAnew = root.add(event) || isDrawnAnew
      }
      this.#all.count = count
      this.count.value = count
      this.#ms.value = ms
      for (const inside of this.#inside.values()) this.#goOn(inside)
      if (isDrawnAnew) this.tree.changed()
    })
  }

  #goOn(inside: Recorded): void {
    const { events, times } = inside
    const now = this.#began + this.#ms.peek()
    for (; (times[inside.count] ?? Number.POSITIVE_INFINITY) <= now; inside.count++)
      this.tree.received(events[inside.count] as RunEvent)
  }

  /** A run inside that is unfolded now is read as a whole, and shown as far as it was. What it used at last is not told. */
  #readingInside(client: PageClient): PageClient {
    const events: PageClient['runs']['events'] = async (runId, options) => {
      const read = async () => Array.fromAsync(await client.runs.events(runId, { ...options, after: 0 }))
      const inside = this.#inside.get(runId) ?? recorded((await read()) as RunEvent[])
      this.#inside.set(runId, inside)
      this.#goOn(inside)
      return none()
    }
    const list: PageClient['runs']['list'] = () => Promise.resolve({ runs: [], count: 0, next_cursor: null })
    return { ...client, runs: { ...client.runs, events, list } }
  }
}

async function* none(): AsyncGenerator<never> {}

function recorded(events: readonly RunEvent[], latest = Number.POSITIVE_INFINITY): Recorded {
  let before = 0
  const times = events.map(({ at }) => {
    before = Math.min(latest, Math.max(before, Date.parse(at)))
    return before
  })
  return { events, times, count: 0 }
}

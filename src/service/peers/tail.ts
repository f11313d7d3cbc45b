import { isAppError } from '../../core/error.ts'
import { isFinalEvent, type RunEvent } from '../../core/event.ts'
import { isEnded, type RunHead } from '../../core/run.ts'
import { nextLimit } from '../events/pages.ts'

type Page = readonly RunEvent[]

/** A wake-up may be lost: a reader looks after so many ticks without one. */
const ticksOfPoll = 2
/** Failed reads in a row, about one a second, before a reader is told. */
const triesOfReads = 30

export interface TailOptions {
  read: (after: number, limit: number) => Promise<Page>
  head: () => Promise<RunHead>
  /** Its last reader has left. */
  onIdle: () => void
}

/** A run that grows in the store, for all its readers here: they share reads, wake-ups and the poll. */
export class Tail {
  readonly #options: TailOptions
  readonly #reads = new Map<string, Promise<Page>>()
  #reading: Promise<RunHead> | undefined
  #readers = 0
  #wakes = 0
  #waiting: (() => void)[] = []
  #ticks = 0
  #failure: unknown

  constructor(options: TailOptions) {
    this.#options = options
  }

  attach(): void {
    this.#readers++
  }

  release(): void {
    if (--this.#readers === 0) this.#options.onIdle()
  }

  /** Who wakes gathers: the reads of all runs that it tells at once share a statement. */
  wake(): void {
    if (this.#readers === 0) return
    this.#wakes++
    this.#resume()
  }

  /** Its readers fail with this error. */
  close(failure: unknown): void {
    this.#failure = failure
    this.#resume()
  }

  /** Call it twice a second. */
  tick(): void {
    if (++this.#ticks >= ticksOfPoll) this.#resume()
  }

  /** Lets all that wait look again, such as one that leaves. */
  nudge(): void {
    this.#resume()
  }

  /** How often it was woken; `wait` does not miss what came since. */
  get wakes(): number {
    return this.#wakes
  }

  read(after: number, limit: number): Promise<Page> {
    if (this.#readers === 1) return this.#options.read(after, limit)
    const key = `${after} ${limit}`
    const known = this.#reads.get(key)
    if (known !== undefined) return known
    const reading = this.#options.read(after, limit).finally(() => this.#reads.delete(key))
    this.#reads.set(key, reading)
    return reading
  }

  head(): Promise<RunHead> {
    this.#reading ??= this.#options.head().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** Resolves with the next wake-up, and from time to time without one. */
  async wait(since: number): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#wakes !== since) return
    await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    if (this.#failure !== undefined) throw this.#failure
  }

  #resume(): void {
    this.#ticks = 0
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }
}

export interface TailRead {
  /** The tail of the run, attached. */
  open: () => Tail
  run: RunHead
  after: number
  signal: AbortSignal | undefined
  /** Its events, when the run goes on in this process. */
  here: (after: number) => AsyncIterable<Page> | undefined
}

/** The events of a growing run, until its end or pause. */
export function readTail(options: TailRead): AsyncIterable<Page> {
  return { [Symbol.asyncIterator]: () => new TailReader(options) }
}

class TailReader implements AsyncIterator<Page> {
  readonly #options: TailRead
  #tail: Tail | undefined
  #here: AsyncIterator<Page> | undefined
  #after: number
  #limit = nextLimit()
  #hasBegun: boolean
  #done = false
  /** The record has nothing more until the next wake-up. */
  #caughtUpAt: number | undefined

  constructor(options: TailRead) {
    this.#options = options
    this.#after = options.after
    this.#hasBegun = options.run.status !== 'queued'
  }

  async next(): Promise<IteratorResult<Page>> {
    try {
      const page = await this.#next()
      if (page !== undefined) return { done: false, value: page }
      this.#finish()
      return { done: true, value: undefined }
    } catch (error) {
      this.#finish()
      throw error
    }
  }

  async return(): Promise<IteratorResult<Page>> {
    const here = this.#here
    this.#leave()
    await here?.return?.()
    return { done: true, value: undefined }
  }

  async #next(): Promise<Page | undefined> {
    if (this.#here !== undefined) return nextOf(this.#here)
    if (this.#done || this.#options.signal?.aborted) return undefined
    const tail = this.#open()
    for (let failures = 0; ; ) {
      const wakes = this.#caughtUpAt ?? tail.wakes
      if (this.#caughtUpAt === undefined) {
        try {
          const page = await this.#look(tail)
          failures = 0
          if (page === 'over' || this.#done) return undefined
          if (page !== undefined) return this.#give(page, wakes)
        } catch (error) {
          if (!isAppError(error) || error.code !== 'unavailable' || ++failures > triesOfReads) throw error
        }
        this.#here = this.#options.here(this.#after)?.[Symbol.asyncIterator]()
        if (this.#here !== undefined) {
          this.#detach()
          return nextOf(this.#here)
        }
      }
      this.#caughtUpAt = undefined
      await tail.wait(wakes)
      if (this.#done) return undefined
    }
  }

  async #look(tail: Tail): Promise<Page | 'over' | undefined> {
    if (!this.#hasBegun) {
      const head = await headOf(tail)
      if (head === undefined) return 'over'
      // The record of a run that waits has a start event, but not the one that it will have.
      if (head.status === 'queued') return undefined
      this.#hasBegun = true
    }
    const page = await tail.read(this.#after, this.#limit)
    if (page.length > 0) return page
    this.#limit = nextLimit()
    const head = await headOf(tail)
    const isOver = head === undefined || (isEnded(head.status) && (head.end_seq ?? 0) <= this.#after)
    return isOver ? 'over' : undefined
  }

  #give(page: Page, wakes: number): Page {
    const last = page.at(-1) as RunEvent
    this.#after = last.seq
    const limit = this.#limit
    this.#limit = nextLimit(page)
    // A short page of small events was all that there is.
    const isAll = page.length < limit && page.every((event) => event.type === 'text_delta')
    if (isAll) this.#caughtUpAt = wakes
    if (isFinalEvent(last)) this.#finish()
    return page
  }

  #open(): Tail {
    if (this.#tail !== undefined) return this.#tail
    this.#tail = this.#options.open()
    this.#options.signal?.addEventListener('abort', this.#leave, { once: true })
    return this.#tail
  }

  readonly #leave = () => {
    const tail = this.#tail
    this.#finish()
    tail?.nudge()
  }

  #finish(): void {
    this.#done = true
    this.#here = undefined
    this.#detach()
  }

  #detach(): void {
    const tail = this.#tail
    this.#tail = undefined
    this.#options.signal?.removeEventListener('abort', this.#leave)
    tail?.release()
  }
}

async function nextOf(events: AsyncIterator<Page>): Promise<Page | undefined> {
  const { done, value } = await events.next()
  return done ? undefined : value
}

/** Undefined: it was deleted. */
async function headOf(tail: Tail): Promise<RunHead | undefined> {
  try {
    return await tail.head()
  } catch (error) {
    if (isAppError(error) && error.code === 'run_not_found') return undefined
    throw error
  }
}

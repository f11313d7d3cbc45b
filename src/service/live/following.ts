import { isAppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { isEnded, type RunHead } from '../../core/run.ts'
import type { Runs } from '../services.ts'
import type { LiveHeads } from './heads.ts'

/** Runs that are read at the same time by one reader; more wait for the end of others. */
const runsAtOnce = 100

/** Events of a followed run, in order. */
export interface Followed {
  run: RunHead
  events: readonly RunEvent[]
}

export interface FollowOptions {
  runs: Pick<Runs, 'events' | 'withPrompts'>
  heads: Pick<LiveHeads, 'run' | 'children'>
  /** Also the runs inside of followed ones, and those inside of them. */
  children: boolean
  prompts: boolean
  sees: (run: RunHead) => Promise<boolean>
  /** Resolves when the reader has taken them. */
  give: (followed: Followed) => Promise<void>
  fail: (error: unknown) => void
}

interface Place {
  after: number
  /** Set while it is read. */
  events: AsyncIterator<readonly RunEvent[]> | undefined
  isReading: boolean
  /** It has changed since it is read: what is read may end at a pause that is over. */
  again: boolean
}

/** The followed runs of one reader. Holds at most one batch of each. */
export class Following {
  readonly #options: FollowOptions
  readonly #places = new Map<string, Place>()
  readonly #waiting = new Set<string>()
  #reading = 0
  #closed = false

  constructor(options: FollowOptions) {
    this.#options = options
  }

  begin(follow: ReadonlyMap<string, number>): void {
    for (const [runId, after] of follow) this.#places.set(runId, placeAfter(after))
    for (const runId of follow.keys()) this.#read(runId)
  }

  /** Goes on with a resumed run, and begins with a new child. */
  changed({ run_id: runId, parent_run_id: parent, status, end_seq: end }: RunHead): void {
    const place = this.#places.get(runId)
    if (place === undefined) this.#addChild(parent, runId)
    else if (!isEnded(status) || (end ?? 0) > place.after) this.#read(runId)
  }

  /** After changes that were not told: looks for what they may have been. */
  catchUp(): void {
    for (const [runId, place] of this.#places) {
      if (place.isReading) place.again = true
      if (!place.isReading || this.#options.children) this.#look(runId, place).catch(this.#options.fail)
    }
  }

  async #look(runId: string, { isReading }: Place): Promise<void> {
    const { heads } = this.#options
    if (isReading) {
      for (const child of (await heads.children(runId)).items) this.#addChild(runId, child.run_id)
      return
    }
    const run = await heads.run(runId)
    if (run !== undefined) this.changed(run)
  }

  leave(runId: string): void {
    const place = this.#places.get(runId)
    this.#places.delete(runId)
    this.#waiting.delete(runId)
    void place?.events?.return?.()
  }

  close(): void {
    this.#closed = true
    for (const runId of [...this.#places.keys()]) this.leave(runId)
  }

  #addChild(parent: string | null, runId: string): void {
    if (!this.#options.children || parent === null || this.#closed) return
    if (!this.#places.has(parent) || this.#places.has(runId)) return
    this.#places.set(runId, placeAfter(0))
    this.#read(runId)
  }

  #read(runId: string): void {
    const place = this.#places.get(runId)
    if (place === undefined) return
    if (place.isReading) {
      place.again = true
      return
    }
    if (this.#reading >= runsAtOnce) {
      this.#waiting.add(runId)
      return
    }
    this.#waiting.delete(runId)
    this.#reading++
    place.isReading = true
    place.again = false
    this.#readEvents(runId, place)
      .catch((error: unknown) => {
        // It does not exist, or not any more.
        if (!isAppError(error) || error.code !== 'run_not_found') this.#options.fail(error)
      })
      .finally(() => {
        place.events = undefined
        place.isReading = false
        this.#reading--
        if (place.again && this.#places.get(runId) === place) this.#read(runId)
        const [next] = this.#waiting
        if (next !== undefined) this.#read(next)
      })
  }

  async #readEvents(runId: string, place: Place): Promise<void> {
    const { runs, heads, prompts, children, sees, give } = this.#options
    const run = await heads.run(runId)
    if (run === undefined || !(await sees(run))) return
    if (children) for (const child of (await heads.children(runId)).items) this.#addChild(runId, child.run_id)
    const recorded = await runs.events(runId, place.after)
    const batches = prompts ? runs.withPrompts(runId, recorded) : recorded
    const events = batches[Symbol.asyncIterator]()
    place.events = events
    while (this.#places.get(runId) === place) {
      const { done, value } = await events.next()
      if (done || this.#places.get(runId) !== place) break
      for (const event of value) {
        if (event.type === 'step_start' && event.child_run_id !== undefined) this.#addChild(runId, event.child_run_id)
      }
      await give({ run, events: value })
      place.after = value.at(-1)?.seq ?? place.after
    }
  }
}

function placeAfter(after: number): Place {
  return { after, events: undefined, isReading: false, again: false }
}

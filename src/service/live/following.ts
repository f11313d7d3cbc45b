import { isAppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { isEnded, type RunHead } from '../../core/run.ts'
import type { Runs } from '../services.ts'
import type { LiveHeads } from './heads.ts'

/** Runs that are read at the same time by one reader; more wait for the end of others. */
const runsAtOnce = 100
/** Of followed sessions: the latest that are known at the same time. */
const mostTurns = 200

/** Events of a followed run, in order. */
export interface Followed {
  run: RunHead
  /** Empty for a run that begins in a followed session: it comes before its events. */
  events: readonly RunEvent[]
}

/** What is followed from the beginning of a stream on. */
export interface Follow {
  /** The number of the last event of each run. */
  runs: ReadonlyMap<string, number>
  /** The runs that begin in them, and those that are under way. */
  sessions: ReadonlySet<string>
}

export interface FollowOptions {
  runs: Pick<Runs, 'events' | 'withPrompts'>
  heads: Pick<LiveHeads, 'run' | 'children' | 'underWay'>
  /** Also the runs inside of followed ones, and those inside of them. */
  children: boolean
  prompts: boolean
  sees: (run: RunHead) => Promise<boolean>
  /** Resolves when the reader has taken them. */
  give: (followed: Followed) => Promise<void>
  /** More runs have begun than are known at the same time. */
  behind: () => void
  fail: (error: unknown) => void
}

interface Place {
  after: number
  /** A turn of a followed session of which the reader knows nothing. */
  isNew: boolean
  /** The turn of a followed session that it is inside of. */
  turn: string | undefined
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
  #sessions: ReadonlySet<string> = new Set()
  /** Those that began in followed sessions, oldest first. */
  readonly #turns = new Set<string>()
  readonly #waiting = new Set<string>()
  #reading = 0
  #closed = false

  constructor(options: FollowOptions) {
    this.#options = options
  }

  begin({ runs, sessions }: Follow): void {
    for (const [runId, after] of runs) this.#places.set(runId, placeAfter(after))
    for (const runId of runs.keys()) this.#read(runId)
    this.#sessions = sessions
    this.#findTurns()
  }

  /** At once, without a look at the run. */
  goesOn(runId: string, sessionId: string | undefined): void {
    if (this.#places.has(runId)) this.#read(runId)
    else if (sessionId !== undefined && this.#sessions.has(sessionId) && !this.#addTurn(runId)) this.#options.behind()
  }

  /** Goes on with a resumed run, and begins with a new child or turn. */
  changed(run: RunHead): void {
    const { run_id: runId, parent_run_id: parent, status, end_seq: end } = run
    const place = this.#places.get(runId)
    if (place === undefined) {
      if (parent !== null) this.#addChild(parent, runId)
      else if (!isEnded(status) && this.#sessions.has(run.session_id)) this.#addTurn(runId)
    } else if (!isEnded(status) || (end ?? 0) > place.after) this.#read(runId)
  }

  /** After changes that were not told: looks for what they may have been. */
  catchUp(): void {
    this.#findTurns()
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

  #findTurns(): void {
    for (const sessionId of this.#sessions) {
      this.#options.heads.underWay(sessionId).then((runs) => {
        for (const runId of runs) if (!this.#places.has(runId)) this.#addTurn(runId)
      }, this.#options.fail)
    }
  }

  /** False: too many are under way. */
  #addTurn(runId: string): boolean {
    if (this.#closed) return true
    if (this.#turns.size >= mostTurns && !this.#forgetTurn()) return false
    this.#turns.add(runId)
    this.#places.set(runId, { ...placeAfter(0), isNew: true })
    this.#read(runId)
    return true
  }

  /** The oldest that is not read, and what is inside of it. */
  #forgetTurn(): boolean {
    for (const runId of this.#turns) {
      if (this.#places.get(runId)?.isReading === true || this.#waiting.has(runId)) continue
      this.#turns.delete(runId)
      this.leave(runId)
      for (const [inside, { turn }] of this.#places) if (turn === runId) this.leave(inside)
      return true
    }
    return false
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

  #addChild(parent: string, runId: string): void {
    const outer = this.#places.get(parent)
    if (!this.#options.children || this.#closed || outer === undefined || this.#places.has(runId)) return
    const turn = this.#turns.has(parent) ? parent : outer.turn
    this.#places.set(runId, { ...placeAfter(0), turn })
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
    if (place.isNew) {
      place.isNew = false
      await give({ run, events: [] })
    }
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
  return { after, isNew: false, turn: undefined, events: undefined, isReading: false, again: false }
}

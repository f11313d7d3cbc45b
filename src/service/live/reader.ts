import { AppError } from '../../core/error.ts'
import type { RunHead } from '../../core/run.ts'
import type { Clock } from '../../core/time.ts'
import { Channel } from '../../runtime/channel.ts'
import { type Follow, type Followed, Following, type FollowOptions } from './following.ts'
import type { LiveHeads } from './heads.ts'
import type { AgentsLoaded, LiveBatch, LiveItem, ResetReason } from './items.ts'
import type { Pace } from './pace.ts'
import type { Change } from './ring.ts'

/** A reader with more changes ahead of it is told to read the lists again. */
const maxPending = 1_000
/** Per tick, in one or two statements. */
const headsAtOnce = 100
const resetMs = 1_000
const tick = Symbol('tick')

export interface LiveAudience {
  /** Only what belongs to this user; undefined: everything. */
  user: string | undefined
  /** Also what only operators may see: agents and knowledge. */
  operator: boolean
}

export interface ReaderOptions
  extends LiveAudience,
    Omit<FollowOptions, 'give' | 'fail' | 'behind' | 'sees' | 'heads'> {
  heads: LiveHeads
  /** The same, read anew each time. */
  stored: FollowOptions['heads']
  loaded: () => AgentsLoaded | undefined
  last: () => number
  clock: Clock
  /** Is told when the reader begins to work and when it rests. */
  pace: Pick<Pace, 'begin' | 'end'>
  onClose: (reader: LiveReader) => void
}

/** One stream. What it has not sent is kept as names, the newest change of each thing once. */
export class LiveReader implements AsyncIterable<LiveBatch>, AsyncIterator<LiveBatch> {
  readonly #options: ReaderOptions
  readonly #incoming = new Channel<typeof tick | Followed>()
  readonly #values = this.#incoming[Symbol.asyncIterator]()
  readonly #following: Following
  readonly #pending = new Map<string, Change>()
  #behind: ResetReason | undefined
  #resetAtMs = Number.NEGATIVE_INFINITY
  #begun = false
  #ticked = false
  #closed = false

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#following = new Following({
      ...options,
      heads: options.stored,
      sees: (run) => this.#sees(run),
      give: (followed) => this.#incoming.push(followed),
      behind: () => this.reset('behind'),
      fail: (error) => this.#incoming.close({ error }),
    })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  get pending(): number {
    return this.#pending.size
  }

  /** Whether it waits for a tick. */
  get isDue(): boolean {
    return this.#pending.size > 0 || this.#behind !== undefined
  }

  /** Begins to follow; the greeting comes first. */
  begin(follow: Follow): void {
    if (this.#closed) return
    this.#incoming.offer(tick)
    this.#following.begin(follow)
  }

  /** A run begins or is resumed, in this session if it is known. */
  goesOn(runId: string, sessionId: string | undefined): void {
    this.#following.goesOn(runId, sessionId)
  }

  offer(change: Change): void {
    const { user, operator } = this.#options
    const { kind, id, users } = change
    if (kind === 'agents' || kind === 'knowledge') {
      if (operator) this.#keep(change)
    } else if (kind === 'lists') {
      if (users === undefined || (user !== undefined && users.includes(user))) this.reset(id as ResetReason)
    } else if (this.#behind === undefined) {
      if (kind === 'deleted') {
        if (user !== undefined && users?.includes(user) !== true) return
        this.#pending.delete(`session ${id}`)
      }
      this.#keep(change)
      if (this.#pending.size > maxPending) this.reset('behind')
    }
  }

  /** Everything that waits is part of what the reader will read again. */
  reset(reason: ResetReason): void {
    this.#behind ??= reason
    for (const [key, { kind }] of this.#pending) {
      if (kind !== 'agents' && kind !== 'knowledge') this.#pending.delete(key)
    }
  }

  /** Lets what waits leave, once. */
  tick(): void {
    if (this.#ticked || !this.isDue) return
    this.#ticked = true
    this.#incoming.offer(tick)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#incoming.close()
    this.#following.close()
    this.#pending.clear()
    this.#options.onClose(this)
  }

  async next(): Promise<IteratorResult<LiveBatch, undefined>> {
    try {
      for (;;) {
        const { done, value } = await this.#values.next()
        if (done) break
        const batch = value === tick ? await this.#drain() : await this.#followed(value)
        if (batch.items.length > 0) return { done: false, value: batch }
      }
    } catch (error) {
      this.close()
      throw error
    }
    this.close()
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<LiveBatch, undefined>> {
    this.close()
    await this.#values.return?.()
    return { done: true, value: undefined }
  }

  #keep(change: Change): void {
    const key = `${change.kind} ${change.id}`
    // At the end: what is sent last has the largest number.
    this.#pending.delete(key)
    this.#pending.set(key, change)
  }

  async #drain(): Promise<LiveBatch> {
    this.#ticked = false
    if (!this.#begun) {
      this.#begun = true
      return { id: this.isDue ? undefined : this.#options.last(), items: [{ type: 'hello' }] }
    }
    if (this.#behind !== undefined) return this.#resetNow(this.#behind)
    const taken = [...this.#pending.values()].slice(0, headsAtOnce)
    for (const { kind, id } of taken) this.#pending.delete(`${kind} ${id}`)
    const { pace } = this.#options
    pace.begin()
    try {
      return { id: taken.at(-1)?.n, items: await this.#read(taken) }
    } finally {
      pace.end()
    }
  }

  #resetNow(reason: ResetReason): LiveBatch {
    const { clock, last } = this.#options
    if (Math.abs(clock() - this.#resetAtMs) < resetMs) return { id: undefined, items: [] }
    this.#resetAtMs = clock()
    this.#behind = undefined
    this.#following.catchUp()
    return { id: last(), items: [{ type: 'reset', reason }] }
  }

  /** What the changed things are now, as far as the reader may see them. */
  async #read(taken: readonly Change[]): Promise<LiveItem[]> {
    const { heads, loaded } = this.#options
    const items: LiveItem[] = []
    const sessions = new Set<string>()
    const runs = new Set<string>()
    for (const { kind, id } of taken) {
      const agents = kind === 'agents' ? loaded() : undefined
      if (agents !== undefined) items.push({ type: 'agents', agents })
      else if (kind === 'knowledge') items.push({ type: 'knowledge' })
      else if (kind === 'deleted') items.push({ type: 'session_deleted', session_id: id })
      else if (kind === 'session' || kind === 'runs') sessions.add(id)
      else runs.add(id)
      if (kind === 'runs' || kind === 'turns') await this.#addRuns(kind, id, runs)
    }
    const found = await Promise.all([...runs].map((runId) => heads.run(runId)))
    for (const run of found) if (run !== undefined) sessions.add(run.session_id)
    // Read after the runs, so that a handover in between counts.
    const read = await Promise.all([...sessions].map((sessionId) => heads.session(sessionId)))
    const owners = new Map(read.map((head) => [head?.session_id, head?.user_id]))
    for (const run of found) {
      if (run === undefined || !this.#isOwn(owners.get(run.session_id), run.user_id)) continue
      items.push({ type: 'run', run })
      this.#following.changed(run)
    }
    for (const head of read) {
      if (head !== undefined && this.#isOwn(head.user_id, null)) items.push({ type: 'session', head })
    }
    return items
  }

  async #addRuns(kind: 'runs' | 'turns', id: string, runs: Set<string>): Promise<void> {
    const { heads } = this.#options
    const sessionId = kind === 'runs' ? id : (await heads.run(id))?.session_id
    if (sessionId === undefined) return
    const page = await heads.runs(sessionId)
    for (const { run_id: runId } of page.items) runs.add(runId)
    if (page.next !== null) this.reset('runs')
  }

  async #followed({ run, events }: Followed): Promise<LiveBatch> {
    if (!(await this.#sees(run))) {
      this.#following.leave(run.run_id)
      return { id: undefined, items: [] }
    }
    if (events.length === 0) return { id: undefined, items: [{ type: 'run', run }] }
    return { id: undefined, items: events.map((event) => ({ type: 'run_event', event })) }
  }

  /** The run belongs to the reader's user now. It is read after the run, so that a handover in between counts. */
  async #sees({ session_id: sessionId, user_id: runUser }: RunHead): Promise<boolean> {
    const { user, heads } = this.#options
    return user === undefined || this.#isOwn(await heads.userOf(sessionId), runUser)
  }

  /** `owner`: of the session, undefined when there is none any more. */
  #isOwn(owner: string | null | undefined, runUser: string | null): boolean {
    const { user } = this.#options
    return user === undefined || owner === user || (owner === null && runUser === user)
  }
}

export function tooManyStreams(most: number): AppError {
  return new AppError(
    'rate_limited',
    `This caller has ${most} live streams open, which is the most. Close one first.`,
    {
      retryAfterSeconds: 5,
    },
  )
}

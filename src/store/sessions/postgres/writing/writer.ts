import type { AppError } from '../../../../core/error.ts'
import { type Failure, toStoreError } from '../../../postgres/failure.ts'
import { charactersOf, runIdOf } from '../../../rules/run-writes.ts'
import type { Database } from '../database.ts'
import { type GroupItem, type Outcome, type PendingWrite, takeGroup, Underway, type Write } from './group.ts'
import { HotConnection } from './hot-connection.ts'
import { type HotAnswer, HotWrite } from './hot-write.ts'
import { failureOf, Persistence } from './persistence.ts'
import { settle } from './settle.ts'
import { explainUnstorable } from './unstorable.ts'

/** A larger group comes from many callers. They send their next requests while they get their answers. */
const fewWrites = 4

/**
 * Writes in groups (group commit): everything that waits is written by one statement on one connection, and acknowledged
 * after its commit; nothing waits for more to arrive. A row that a rule forbids is settled alone, in a transaction of the
 * pool. A group of which nobody knows whether it was committed is sent again: each row is its own proof that it was.
 */
export class Writer {
  readonly #database: Database
  readonly #hot: HotConnection
  readonly #persistence = new Persistence()
  readonly #underway = new Underway()
  readonly #unanswered = new Set<PendingWrite>()
  #waiting: PendingWrite[] = []
  #draining: Promise<void> | undefined
  readonly #settling = new Set<Promise<void>>()

  constructor(database: Database) {
    this.#database = database
    this.#hot = new HotConnection(database.pools)
  }

  async open(): Promise<void> {
    await this.#hot.open()
  }

  /** A record that can't be measured or written rejects this promise alone. */
  write(write: Write): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const one: PendingWrite = { write, characters: charactersOf(write), again: false, resolve, reject }
      this.#waiting.push(one)
      this.#wake()
    })
  }

  /** See `Persistence`. */
  certain<T>(work: (again: boolean) => Promise<T>): Promise<T> {
    return this.#persistence.certain(work)
  }

  /** Rejects everything that has no answer yet. What comes later is written again. */
  abandon(error: AppError): void {
    this.#persistence.abandon(error)
    // A connection that leads nowhere would hold up what comes later.
    void this.#hot.close()
    for (const one of this.#waiting.splice(0)) one.reject(error)
    for (const one of this.#unanswered) one.reject(error)
  }

  /** Waits for what was accepted, unless the database is away. */
  async close(): Promise<void> {
    this.#persistence.end()
    while (this.#draining !== undefined || this.#settling.size > 0)
      await Promise.all([this.#draining, ...this.#settling])
    await this.#hot.close()
  }

  #wake(): void {
    this.#draining ??= this.#drain()
  }

  async #drain(): Promise<void> {
    // Calls of the same tick join the first group, even the end of a run that finishes at once.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    while (this.#waiting.length > 0) {
      const { items, owner, alone, rest } = takeGroup(this.#waiting, this.#underway)
      this.#waiting = rest
      for (const one of alone) this.#settle([one])
      // What is left waits for what is settled.
      if (items.length === 0) break
      const count = items.length
      await this.#commit(items, owner)
      // Lets more calls join the next group: a commit costs much more than one write in it.
      if (count > fewWrites) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    // In the same tick as the last look at the queue, so that no call is left waiting.
    this.#draining = undefined
  }

  /** Halves a group that can't be written as a whole, down to the writes that prevent it. Never rejects. */
  async #commit(items: GroupItem[], owner: string | undefined): Promise<void> {
    const { group, items: encoded } = encode(items)
    if (encoded.length === 0) return
    for (const { writes } of encoded) for (const one of writes) this.#unanswered.add(one)
    const sentMs = performance.now()
    try {
      this.#answer(encoded, await this.#send(group, encoded, owner))
      this.#count(encoded, sentMs)
    } catch (error) {
      const [first] = encoded
      if (!isOfOne(failureOf(error))) this.#reject(encoded, error)
      else if (encoded.length === 1 && first !== undefined) this.#settle(first.writes)
      else {
        const middle = encoded.length >> 1
        await this.#commit(encoded.slice(0, middle), owner)
        await this.#commit(encoded.slice(middle), owner)
      }
    }
  }

  /** Until there is an answer. */
  #send(group: HotWrite, items: readonly GroupItem[], owner: string | undefined): Promise<HotAnswer> {
    const { owners } = this.#database
    return this.#persistence.insist(
      async () => {
        const key = owner === undefined ? 0 : (owners.known(owner) ?? (await owners.keyOf(owner)))
        return this.#hot.use((sql) => group.write(sql, key, owners.own !== undefined))
      },
      () => {
        for (const { writes } of items) for (const one of writes) one.again = true
      },
    )
  }

  #answer(items: readonly GroupItem[], answer: HotAnswer): void {
    const { commits } = this.#database
    const made = new Set<string>()
    for (const item of items) {
      const outcome = outcomeOf(item, answer, made)
      if (outcome === undefined) {
        this.#settle(item.writes)
        continue
      }
      const [first, end] = item.writes
      this.#resolve(first, outcome)
      this.#resolve(end, 'ok')
      if (item.write.kind !== 'start' || end !== undefined) commits.recorded(runIdOf(item.write))
    }
    for (const [runId, owner] of answer.turns) commits.freed(runId, owner)
  }

  #count(items: readonly GroupItem[], sentMs: number): void {
    const { numbers } = this.#database
    numbers.commits++
    numbers.commitMs += performance.now() - sentMs
    for (const { writes } of items) numbers.writes += writes.length
  }

  /** One after the other: a start, and perhaps its own end. */
  #settle(writes: readonly PendingWrite[]): void {
    for (const one of writes) {
      this.#unanswered.add(one)
      this.#underway.begin(one)
    }
    const settling = this.#settleEach(writes)
    this.#settling.add(settling)
    void settling.then(() => {
      this.#settling.delete(settling)
      for (const one of writes) this.#underway.end(one)
      if (this.#waiting.length > 0) this.#wake()
    })
  }

  /** Never rejects. */
  async #settleEach(writes: readonly PendingWrite[]): Promise<void> {
    const { commits } = this.#database
    for (const one of writes) {
      try {
        const { outcome, recorded, turns } = await this.#persistence.insist(
          () => settle(this.#database, one),
          () => {
            one.again = true
          },
        )
        for (const runId of recorded) commits.recorded(runId)
        for (const [runId, owner] of turns) commits.freed(runId, owner)
        this.#resolve(one, outcome)
      } catch (error) {
        this.#unanswered.delete(one)
        one.reject(explainUnstorable(one.write, error) ?? toStoreError(error))
      }
    }
  }

  #resolve(one: PendingWrite | undefined, outcome: Outcome): void {
    if (one === undefined) return
    this.#unanswered.delete(one)
    one.resolve(outcome)
  }

  #reject(items: readonly GroupItem[], error: unknown): void {
    const known = toStoreError(error)
    for (const { writes } of items)
      for (const one of writes) {
        this.#unanswered.delete(one)
        one.reject(known)
      }
  }
}

/** What is not JSON rejects its own caller. */
function encode(items: readonly GroupItem[]): { group: HotWrite; items: GroupItem[] } {
  const group = new HotWrite()
  const encoded: GroupItem[] = []
  for (const item of items) {
    try {
      group.add(item)
      encoded.push(item)
    } catch (error) {
      for (const one of item.writes) one.reject(toStoreError(error))
    }
  }
  return { group, items: encoded }
}

/** Whether one row may be the reason, or the lock that it needs. */
function isOfOne(failure: Failure): boolean {
  return failure === 'row' || failure === 'again'
}

/** Undefined: the row was not written. */
function outcomeOf({ write, end }: GroupItem, answer: HotAnswer, made: Set<string>): Outcome | undefined {
  if (write.kind === 'append') return answer.appends.has(write.batch.run_id) ? 'ok' : undefined
  if (write.kind === 'finish') return answer.ends.has(write.end.run_id) ? 'ok' : undefined
  const { run_id: runId, session_id: sessionId } = write.start.run
  const status = answer.starts.get(runId)
  if (status === undefined) return undefined
  const session = answer.sessions.get(sessionId)
  // The first start in a session that is new made it.
  const isNew = session?.isNew === true && !made.has(sessionId)
  if (isNew) made.add(sessionId)
  return {
    outcome: status === 'queued' && end === undefined ? 'queued' : 'started',
    fence: 1,
    created_session: isNew,
    // The revision of the session is that after its own end.
    ...(session && { revision: session.revision - (end === undefined ? 0 : 1), birth: session.birth }),
  }
}

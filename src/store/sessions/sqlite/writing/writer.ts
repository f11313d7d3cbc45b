import { AppError } from '../../../../core/error.ts'
import { isTry } from '../../../../core/run.ts'
import { charactersOf, isLarge, type RunWrite } from '../../../rules/run-writes.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import { classify, toStoreError } from '../../../sqlite/failure.ts'
import { inTransaction } from '../../../sqlite/transaction.ts'
import { type RunWriteOutcome, WriteBatch } from './batch.ts'
import { insertBatch, toParams } from './batch-insert.ts'
import type { KnownRows } from './known-rows.ts'
import { type Pending, type PendingItem, type PendingWork, type PendingWrite, takeBatch } from './pending.ts'
import { writeSingly } from './single-write.ts'

/** A larger batch comes from many callers. They send their next requests while they get their answers. */
const fewWrites = 4

export interface WriterOptions {
  path: string
  connection: Connection
  known: KnownRows
  now: () => string
  /** Called once, when the file can no longer be trusted. */
  onFatal: (error: AppError) => void
  /** Called after each commit with its number of writes and characters; the next batch waits for the promise. */
  afterCommit: (writes: number, characters: number) => Promise<void> | undefined
}

/**
 * Writes in batches (group commit): everything that waits is committed together and acknowledged after the COMMIT; nothing
 * waits for more to arrive. A disk error rejects the batch. An error after which the file can't be trusted stops all writing.
 */
export class Writer {
  readonly #options: WriterOptions
  #waiting: Pending[] = []
  #draining: Promise<void> | undefined
  #dead: AppError | undefined
  /** Written since the last COMMIT. */
  #characters = 0
  #writes = 0
  #isFull = false

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** A record that can't be measured or written rejects this promise alone. */
  write(write: RunWrite): Promise<RunWriteOutcome> {
    // Measured here, so that a broken record rejects its own caller.
    return new Promise((resolve, reject) => this.#enqueue({ write, large: isLarge(write), resolve, reject }))
  }

  /** Runs the work inside a batch's transaction. An error undoes this work alone. `characters`: roughly what it writes or deletes. */
  work<T>(work: (writer: Connection) => Promise<T>, characters = 0): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#enqueue({ work, characters, resolve: resolve as (value: unknown) => void, reject })
    })
  }

  /** Resolves when everything accepted so far has been answered. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  get writes(): number {
    return this.#writes
  }

  get isFull(): boolean {
    return this.#isFull
  }

  /** Call it after a `work` that wrote: the writer can't see that itself. */
  wrote(): void {
    this.#isFull = false
  }

  /** Why no write is accepted any more. */
  get failure(): AppError | undefined {
    return this.#dead
  }

  #enqueue(item: Pending): void {
    if (this.#dead !== undefined) item.reject(this.#dead)
    else {
      this.#waiting.push(item)
      this.#draining ??= this.#drain()
    }
  }

  async #drain(): Promise<void> {
    // Calls of the same tick join the first batch, even the end of a run that finishes at once.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    while (this.#waiting.length > 0) {
      const { items, works, count, large } = takeBatch(this.#waiting)
      this.#writes += items.length
      this.#waiting = this.#waiting.slice(count)
      const pending = [...items.flatMap(({ writes }) => writes), ...works]
      try {
        await (large
          ? inTransaction(this.#options.connection, () => this.#apply(items, true))
          : this.#commit(items, works))
        if (items.length > 0) this.#isFull = false
        for (const one of pending) answer(one)
        await this.#options.afterCommit(count, this.#characters)
        this.#characters = 0
        // Lets more calls join the next batch: a commit costs much more than one write in it.
        if (count > fewWrites) await new Promise<void>((resolve) => setImmediate(resolve))
      } catch (error) {
        this.#fail(error, pending)
      }
    }
    // In the same tick as the last look at the queue, so that no call is left waiting.
    this.#draining = undefined
  }

  #fail(error: unknown, items: readonly Pending[]): void {
    const known = toStoreError(error, this.#options.path)
    this.#options.known.clear()
    for (const item of items) item.reject(known)
    const failure = classify(error)
    if (failure === 'full') this.#isFull = true
    if (failure === 'fatal') this.stop(error)
  }

  /** Call it when the file can't be trusted: rejects what waits and everything after it. */
  stop(error: unknown): void {
    if (this.#dead !== undefined) return
    const known = toStoreError(error, this.#options.path)
    this.#dead = known
    for (const item of this.#waiting.splice(0)) item.reject(known)
    this.#options.onFatal(known)
  }

  async #commit(items: PendingItem[], works: PendingWork[]): Promise<void> {
    const { connection } = this.#options
    const alone = works.length === 0
    if (alone && (await this.#writeWhole(items))) return
    await inTransaction(connection, async () => {
      await this.#apply(items, alone)
      for (const one of works) {
        one.outcome = await this.#alone(() => one.work(connection))
        this.#characters += one.characters
      }
    })
  }

  /** Halves a batch that can't be written as a whole, down to the items that prevent it. */
  async #apply(items: PendingItem[], failed = false): Promise<void> {
    if (items.length === 0 || (!failed && (await this.#writeWhole(items)))) return
    if (items.length === 1) return this.#writeEach(items[0]?.writes ?? [])
    const middle = items.length >> 1
    await this.#apply(items.slice(0, middle))
    await this.#apply(items.slice(middle))
  }

  /** One statement for all. False when an item prevents it; then nothing was written. */
  async #writeWhole(items: PendingItem[]): Promise<boolean> {
    const { connection, known } = this.#options
    const batch = new WriteBatch(known)
    try {
      // An item that is not JSON throws here; it is then written by itself.
      for (const item of items) if (!batch.add(item)) return false
      const params = toParams(batch.finish())
      await connection.run(insertBatch, params)
      for (const text of params) this.#characters += text?.length ?? 0
    } catch (error) {
      if (endsBatch(error)) throw error
      return false
    }
    for (const { writes } of items) {
      for (const one of writes) {
        one.outcome = { value: ordinaryOutcome(one.write, batch.created) }
        remember(known, one.write, one.outcome)
      }
    }
    return true
  }

  async #writeEach(writes: readonly PendingWrite[]): Promise<void> {
    const { connection, known, now } = this.#options
    for (const one of writes) {
      one.outcome = await this.#alone(() => writeSingly(connection, one.write, now()))
      this.#characters += charactersOf(one.write)
      remember(known, one.write, one.outcome)
    }
  }

  async #alone<T>(work: () => Promise<T>): Promise<{ value: T } | { error: unknown }> {
    const { connection } = this.#options
    await connection.run('SAVEPOINT one')
    try {
      const value = await work()
      await connection.run('RELEASE one')
      return { value }
    } catch (error) {
      if (endsBatch(error)) throw error
      await connection.run('ROLLBACK TO one')
      await connection.run('RELEASE one')
      return { error: toStoreError(error, this.#options.path) }
    }
  }
}

/** Whether the whole batch fails: a full disk, a lock of another process, a broken file. */
function endsBatch(error: unknown): boolean {
  const failure = classify(error)
  return failure === 'full' || failure === 'busy' || failure === 'fatal'
}

function answer(one: Pending): void {
  const { outcome } = one
  if (outcome === undefined) one.reject(new AppError('internal', 'A write was committed without an outcome.'))
  else if ('error' in outcome) one.reject(outcome.error)
  else one.resolve(outcome.value as RunWriteOutcome)
}

/** `created`: the sessions that the batch created. The first start in a session created it. */
function ordinaryOutcome(write: RunWrite, created: Set<string>): RunWriteOutcome {
  if (write.kind === 'begin') return 'begun'
  if (write.kind !== 'start') return 'ok'
  const { run } = write.start
  return {
    outcome: run.status === 'running' ? 'started' : 'queued',
    fence: 1,
    created_session: created.delete(run.session_id),
  }
}

function remember(known: KnownRows, write: RunWrite, outcome: { value: RunWriteOutcome } | { error: unknown }): void {
  if (write.kind === 'finish') known.forgetRun(write.end.run_id)
  if (write.kind !== 'start' || 'error' in outcome || typeof outcome.value !== 'object') return
  const { run } = write.start
  if (isTry(run)) return
  if (outcome.value.outcome === 'session_missing') known.forgetSession(run.session_id)
  else known.sawSession(run.session_id)
  if (outcome.value.outcome === 'started' || outcome.value.outcome === 'queued') {
    known.sawRun(run.run_id, run.session_id)
  }
}

import { AppError } from '../../../../core/error.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import { classify, toStoreError } from '../../../sqlite/failure.ts'
import { inTransaction } from '../../../sqlite/transaction.ts'
import { type BatchItem, type RunWrite, type RunWriteOutcome, WriteBatch } from './batch.ts'
import { insertBatch, toParams } from './batch-insert.ts'
import type { KnownRows } from './known-rows.ts'
import { charactersOf, isLarge } from './large-write.ts'
import { writeSingly } from './single-write.ts'

const groupLimit = 512
/** A group of more comes of many callers, who send the next requests while they get their answers. */
const aloneLimit = 4

interface Waiting<T> {
  resolve: (value: T) => void
  reject: (error: unknown) => void
  /** What to tell the caller once the transaction is durable. */
  outcome?: { value: T } | { error: unknown }
}
interface WaitingHot extends Waiting<RunWriteOutcome> {
  write: RunWrite
  large: boolean
}
interface WaitingWork extends Waiting<unknown> {
  work: (writer: Connection) => Promise<unknown>
  characters: number
}
interface PendingItem extends BatchItem {
  items: WaitingHot[]
}

export interface WriterOptions {
  /** Of the file, as errors name it. */
  path: string
  connection: Connection
  known: KnownRows
  now: () => string
  /** Called once, when the file can no longer be trusted. */
  onFatal: (error: AppError) => void
  /** Called after a commit of so many writes and characters; the next group waits for what it gives. */
  afterCommit: (writes: number, characters: number) => Promise<void> | undefined
}

/**
 * The one who writes. Everything that waits is committed together, without waiting for more than has arrived, and
 * acknowledged after the COMMIT. An error of the disk rejects what waits; one after which the file can't be trusted ends all writing.
 */
export class Writer {
  readonly #options: WriterOptions
  #waiting: (WaitingHot | WaitingWork)[] = []
  #draining: Promise<void> | undefined
  #dead: AppError | undefined
  /** Of what was written since the last COMMIT. */
  #characters = 0
  #writes = 0
  #isFull = false

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Rejects for a record that can't be measured or written, and for that one alone. */
  write(write: RunWrite): Promise<RunWriteOutcome> {
    // Looked at here, where a record that is none rejects its own caller.
    return new Promise((resolve, reject) => this.#enqueue({ write, large: isLarge(write), resolve, reject }))
  }

  /** In the transaction of a group, by itself: an error undoes this work alone. `characters`: about as many as it writes or deletes. */
  work<T>(work: (writer: Connection) => Promise<T>, characters = 0): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#enqueue({ work, characters, resolve: resolve as (value: unknown) => void, reject })
    })
  }

  /** Resolves when everything accepted so far has been answered. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  /** How many runs have been started, gone on and ended: grows while somebody works. */
  get writes(): number {
    return this.#writes
  }

  /** Whether the last write found the disk full. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** A write that the writer can't see in its work has come through. */
  wrote(): void {
    this.#isFull = false
  }

  /** Why nothing is accepted any more. */
  get failure(): AppError | undefined {
    return this.#dead
  }

  #enqueue(item: WaitingHot | WaitingWork): void {
    if (this.#dead !== undefined) item.reject(this.#dead)
    else {
      this.#waiting.push(item)
      this.#draining ??= this.#drain()
    }
  }

  async #drain(): Promise<void> {
    // What is asked for in the same step goes into the first group too, the end of a run that needs no more than that included.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    while (this.#waiting.length > 0) {
      const { units, works, count, large } = takeGroup(this.#waiting)
      this.#writes += units.length
      this.#waiting = this.#waiting.slice(count)
      const items = [...units.flatMap((unit) => unit.items), ...works]
      try {
        await (large
          ? inTransaction(this.#options.connection, () => this.#apply(units, true))
          : this.#commit(units, works))
        if (units.length > 0) this.#isFull = false
        for (const item of items) answer(item)
        await this.#options.afterCommit(count, this.#characters)
        this.#characters = 0
        // What has arrived by now goes into the next group too: a commit costs much more than a write in it.
        if (count > aloneLimit) await new Promise<void>((resolve) => setImmediate(resolve))
      } catch (error) {
        this.#fail(error, items)
      }
    }
    // In the same step as the last look at what waits, so that nothing is left lying.
    this.#draining = undefined
  }

  #fail(error: unknown, items: readonly (WaitingHot | WaitingWork)[]): void {
    const known = toStoreError(error, this.#options.path)
    this.#options.known.clear()
    for (const item of items) item.reject(known)
    const failure = classify(error)
    if (failure === 'full') this.#isFull = true
    if (failure === 'fatal') this.stop(error)
  }

  /** The file can't be trusted: what waits is rejected, and nothing is accepted any more. */
  stop(error: unknown): void {
    if (this.#dead !== undefined) return
    const known = toStoreError(error, this.#options.path)
    this.#dead = known
    for (const item of this.#waiting.splice(0)) item.reject(known)
    this.#options.onFatal(known)
  }

  async #commit(units: PendingItem[], works: WaitingWork[]): Promise<void> {
    const { connection } = this.#options
    const alone = works.length === 0
    if (alone && (await this.#writeWhole(units))) return
    await inTransaction(connection, async () => {
      await this.#apply(units, alone)
      for (const item of works) {
        item.outcome = await this.#alone(() => item.work(connection))
        this.#characters += item.characters
      }
    })
  }

  /** Halves a group that can't be written as a whole, down to the units that are in the way. */
  async #apply(units: PendingItem[], failed = false): Promise<void> {
    if (units.length === 0 || (!failed && (await this.#writeWhole(units)))) return
    if (units.length === 1) return this.#settleEach(units[0]?.items ?? [])
    const middle = units.length >> 1
    await this.#apply(units.slice(0, middle))
    await this.#apply(units.slice(middle))
  }

  /** One statement for all; false when something stands in the way and nothing was written. */
  async #writeWhole(units: PendingItem[]): Promise<boolean> {
    const { connection, known } = this.#options
    const group = new WriteBatch(known)
    try {
      // What can't be written as JSON throws here; it is answered by itself.
      for (const unit of units) if (!group.add(unit)) return false
      const params = toParams(group.finish())
      await connection.run(insertBatch, params)
      for (const text of params) this.#characters += text?.length ?? 0
    } catch (error) {
      if (endsGroup(error)) throw error
      return false
    }
    for (const unit of units) {
      for (const item of unit.items) {
        item.outcome = { value: ordinaryOutcome(item.write, group.created) }
        remember(known, item.write, item.outcome)
      }
    }
    return true
  }

  async #settleEach(items: readonly WaitingHot[]): Promise<void> {
    const { connection, known, now } = this.#options
    for (const item of items) {
      item.outcome = await this.#alone(() => writeSingly(connection, item.write, now()))
      this.#characters += charactersOf(item.write)
      remember(known, item.write, item.outcome)
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
      if (endsGroup(error)) throw error
      await connection.run('ROLLBACK TO one')
      await connection.run('RELEASE one')
      return { error: toStoreError(error, this.#options.path) }
    }
  }
}

/** Whether nothing of the group can be kept: a full disk, a foreign lock, a broken file. */
function endsGroup(error: unknown): boolean {
  const failure = classify(error)
  return failure === 'full' || failure === 'busy' || failure === 'fatal'
}

function answer(item: WaitingHot | WaitingWork): void {
  const { outcome } = item
  if (outcome === undefined) item.reject(new AppError('internal', 'A write was committed without an outcome.'))
  else if ('error' in outcome) item.reject(outcome.error)
  else item.resolve(outcome.value as RunWriteOutcome)
}

/** The longest prefix that fits one batch: each run at most once, except a start followed by its own end. A large write goes alone. */
function takeGroup(waiting: readonly (WaitingHot | WaitingWork)[]): {
  units: PendingItem[]
  works: WaitingWork[]
  count: number
  large: boolean
} {
  const first = waiting[0]
  if (first !== undefined && 'write' in first && first.large)
    return { units: [{ write: first.write, items: [first] }], works: [], count: 1, large: true }
  const units = new Map<string, PendingItem>()
  const works: WaitingWork[] = []
  let count = 0
  for (const item of waiting) {
    if (count === groupLimit) break
    if ('work' in item) works.push(item)
    else if (item.large) break
    else {
      const runId = runIdOf(item.write)
      const unit = units.get(runId)
      if (unit === undefined) units.set(runId, { write: item.write, items: [item] })
      else if (isOwnEnd(unit, item.write)) {
        unit.end = item.write.end
        unit.items.push(item)
      } else break
    }
    count++
  }
  return { units: [...units.values()], works, count, large: false }
}

function isOwnEnd(unit: PendingItem, write: RunWrite): write is Extract<RunWrite, { kind: 'finish' }> {
  return write.kind === 'finish' && write.end.fence === 1 && unit.write.kind === 'start' && unit.end === undefined
}

function runIdOf(write: RunWrite): string {
  switch (write.kind) {
    case 'start':
      return write.start.run.run_id
    case 'begin':
      return write.begin.runId
    case 'append':
      return write.batch.run_id
    case 'finish':
      return write.end.run_id
  }
}

/** `created`: the sessions that the group made; the first start in each is the one that made it. */
function ordinaryOutcome(write: RunWrite, created: Set<string>): RunWriteOutcome {
  if (write.kind === 'finish') return 'ok'
  if (write.kind !== 'start') return true
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
  if (outcome.value.outcome === 'session_missing') known.forgetSession(run.session_id)
  else known.sawSession(run.session_id)
  if (outcome.value.outcome === 'started' || outcome.value.outcome === 'queued') {
    known.sawRun(run.run_id, run.session_id)
  }
}

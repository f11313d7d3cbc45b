import { AppError } from '../../../core/error.ts'
import { createId } from '../../../core/id.ts'
import type { Logger } from '../../../core/logger.ts'
import type { Timer, Timers } from '../../../core/time.ts'
import type { Sql } from '../../postgres/connection.ts'

export interface OwnerOptions {
  /** Silence after which the others take this process for dead. */
  deadAfterMs: number
  timers: Timers
  now: () => number
  logger: Logger
  work<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** For one short statement, which waits for nothing else of this process. */
  tell<T>(use: (sql: Sql) => Promise<T>): Promise<T>
  /** What was reserved belongs to an owner that is dead. */
  onLost: () => void
  /** Owners are gone: what they left behind can be removed, and what they did taken. */
  onGone: () => void
}

/** This process was taken for dead: what it has begun to write is removed. */
export class OwnerLost extends AppError {}

const longestBeatMs = 3_000

interface Other {
  owner_key: number
  beat: number
  dead_after_ms: number
}

const updateBeat = `WITH own AS (
    UPDATE knowledge_owner SET beat = beat + 1, beat_at = clock_timestamp() WHERE owner_key = $1 AND dead_at IS NULL RETURNING 1)
  SELECT (SELECT count(*) FROM own) AS mine,
    (SELECT json_agg(json_build_object('owner_key', owner_key, 'beat', beat, 'dead_after_ms', dead_after_ms))
      FROM knowledge_owner WHERE owner_key <> $1 AND dead_at IS NULL AND left_at IS NULL) AS others`

interface BeatRow {
  mine: number
  others: Other[] | null
}

/**
 * A process that writes knowledge. It tells the others that it lives, and takes those for dead whose sign of life has not changed
 * for too long by its own clock, while all its own signs succeeded.
 */
export class Owner {
  readonly #options: OwnerOptions
  readonly #everyMs: number
  #key: Promise<number> | undefined
  #timer: Timer | undefined
  #beating: Promise<void> | undefined
  #closed = false
  #isStarted = false
  #seen = new Map<number, { beat: number; sinceMs: number }>()

  constructor(options: OwnerOptions) {
    this.#options = options
    this.#everyMs = Math.min(longestBeatMs, options.deadAfterMs / 5)
  }

  /** Registers this process if need be. */
  key(): Promise<number> {
    this.#key ??= this.#register().catch((error: unknown) => {
      this.#key = undefined
      throw error
    })
    return this.#key
  }

  /** A transaction of this process; nobody takes it for dead before it ends. */
  async owned<T>(
    work: (sql: Sql, owner: number) => Promise<T>,
    run: (work: (sql: Sql) => Promise<T>) => Promise<T>,
  ): Promise<T> {
    const owner = await this.key()
    try {
      return await run(async (sql) => {
        const alive = await sql.all(
          'SELECT 1 FROM knowledge_owner WHERE owner_key = $1 AND dead_at IS NULL FOR KEY SHARE',
          [owner],
        )
        if (alive.length === 0)
          throw new OwnerLost('unavailable', 'This server was taken for dead. Retry in a moment.', {
            retryAfterSeconds: 1,
          })
        return work(sql, owner)
      })
    } catch (error) {
      if (error instanceof OwnerLost) this.#forget(owner)
      throw error
    }
  }

  /** What it has written and not published is free for the others. */
  async close(): Promise<void> {
    this.#closed = true
    this.#options.timers.clear(this.#timer)
    await this.#beating
    const key = await this.#key?.catch(() => undefined)
    this.#key = undefined
    if (key === undefined) return
    await this.#options
      .work((sql) => sql.run('UPDATE knowledge_owner SET left_at = clock_timestamp() WHERE owner_key = $1', [key]))
      .catch((error: unknown) =>
        this.#options.logger.debug({ error }, 'the database was not told that knowledge closes'),
      )
  }

  async #register(): Promise<number> {
    if (this.#closed) throw new AppError('unavailable', 'The knowledge base is closing.', { retryAfterSeconds: 1 })
    const owner = createId('own')
    const { work, deadAfterMs } = this.#options
    const [row] = await work((sql) =>
      sql.all<{ owner_key: number }>(
        'INSERT INTO knowledge_owner (owner, dead_after_ms) VALUES ($1, $2) RETURNING owner_key',
        [owner, deadAfterMs],
      ),
    )
    if (row === undefined) throw new Error('The database gave no key for this process.')
    // One that was taken for dead registers anew, and its timer continues.
    if (!this.#isStarted) this.#next()
    this.#isStarted = true
    return row.owner_key
  }

  #forget(owner: number): void {
    const forget = (key: number) => {
      if (key !== owner) return
      this.#key = undefined
      this.#options.onLost()
    }
    // It may be registering anew. Who waits for that hears of its failure.
    this.#key?.then(forget, () => undefined)
  }

  #next(): void {
    if (this.#closed) return
    this.#timer = this.#options.timers.set(() => {
      this.#beating = this.#beat()
        .catch((error: unknown) => {
          // The silence of others may be that of this process.
          this.#seen.clear()
          this.#options.logger.debug({ error }, 'the database was not told that knowledge is alive')
        })
        .finally(() => {
          this.#beating = undefined
          this.#next()
        })
    }, this.#everyMs)
    this.#timer.unref()
  }

  async #beat(): Promise<void> {
    const owner = await this.#key
    if (owner === undefined) return
    const sentMs = this.#options.now()
    const [row] = await this.#options.tell((sql) => sql.all<BeatRow>(updateBeat, [owner]))
    if (row?.mine !== 1) {
      this.#forget(owner)
      return
    }
    let gone = 0
    for (const other of this.#silent(row.others ?? [], sentMs)) if (await this.#declareDead(other)) gone++
    if (gone > 0) this.#options.onGone()
  }

  #silent(others: readonly Other[], nowMs: number): Other[] {
    const before = this.#seen
    this.#seen = new Map(
      others.map(({ owner_key, beat }) => {
        const known = before.get(owner_key)
        return [owner_key, { beat, sinceMs: known?.beat === beat ? known.sinceMs : nowMs }]
      }),
    )
    return others.filter(
      ({ owner_key, dead_after_ms }) => nowMs - (this.#seen.get(owner_key)?.sinceMs ?? nowMs) >= dead_after_ms,
    )
  }

  /** Waits for a transaction that the other may have under way. */
  #declareDead({ owner_key, beat }: Other): Promise<boolean> {
    return this.#options.work(async (sql) => {
      const still = await sql.all(
        'SELECT 1 FROM knowledge_owner WHERE owner_key = $1 AND beat = $2 AND dead_at IS NULL FOR UPDATE',
        [owner_key, beat],
      )
      if (still.length === 0) return false
      await sql.run('UPDATE knowledge_owner SET dead_at = clock_timestamp() WHERE owner_key = $1', [owner_key])
      return true
    })
  }
}

/** The keys of owners that may still write. */
export const livingOwners = '(SELECT owner_key FROM knowledge_owner WHERE dead_at IS NULL AND left_at IS NULL)'

import { AppError } from '../../core/error.ts'

export interface BudgetLimits {
  /** Bytes of all bodies. */
  totalBytes: number
  /** Bytes of the bodies of one caller; undefined: callers share the total and nothing else. */
  perCallerBytes: number | undefined
  /** How long a body waits for room. */
  waitMs: number
}

interface Pool {
  /** The setting, for the refusal. */
  readonly key: 'bodies' | 'bodiesPerKey'
  readonly limit: number
  used: number
  /** The part of `used` that belongs to waiting bodies. */
  waiting: number
  /** The one body that may go beyond the limit, see `BodyBudget`. */
  favoured: BodyLease | undefined
}

/** What one body holds of the budget. */
export interface BodyLease {
  /** True: the bytes are held. False: nothing changed; call `wait` and read nothing until it calls back. */
  take(bytes: number): boolean
  /** Calls `onRoom` once the bytes are held, or `onRefused` with `unavailable` after `waitMs`. */
  wait(bytes: number, onRoom: () => void, onRefused: (error: AppError) => void): void
  give(bytes: number): void
  /** Returns all bytes to the budget and ends a wait. Bytes taken later count again. */
  release(): void
}

/**
 * The memory that request bodies share until their requests release them. A body that does not fit waits. When the
 * waiting bodies hold more than half of the budget, waiting would free nothing: then the oldest of them may exceed the
 * budget, one at a time, unless it is larger than the whole budget. So at most the budget and one body are held.
 */
export class BodyBudget {
  readonly total: Pool
  readonly #limits: BudgetLimits
  readonly #callers = new Map<string, Pool>()
  /** The oldest body first. */
  readonly #waiters: Lease[] = []
  #serials = 0

  constructor(limits: BudgetLimits) {
    this.#limits = limits
    this.total = createPool('bodies', limits.totalBytes)
  }

  get used(): number {
    return this.total.used
  }

  lease(caller: string): BodyLease {
    return new Lease(this, ++this.#serials, this.#poolsOf(caller), this.#limits.waitMs)
  }

  addWaiter(lease: Lease): void {
    let at = this.#waiters.length
    while (at > 0 && (this.#waiters[at - 1]?.serial ?? 0) > lease.serial) at--
    this.#waiters.splice(at, 0, lease)
    for (const pool of lease.pools) {
      pool.waiting += lease.held
      this.#favour(pool)
    }
    this.settle()
  }

  removeWaiter(lease: Lease): void {
    const at = this.#waiters.indexOf(lease)
    if (at === -1) return
    this.#waiters.splice(at, 1)
    for (const pool of lease.pools) pool.waiting -= lease.held
  }

  /** Resumes waiting bodies for which there is room now. */
  settle(): void {
    if (this.#waiters.length === 0) return
    for (const { pools } of this.#waiters) for (const pool of pools) this.#favour(pool)
    for (const lease of [...this.#waiters]) lease.tryAgain()
  }

  #favour(pool: Pool): void {
    if (pool.favoured !== undefined || pool.waiting * 2 <= pool.limit) return
    pool.favoured = this.#waiters.find((lease) => lease.pools.includes(pool) && lease.wanted <= pool.limit)
  }

  #poolsOf(caller: string): readonly Pool[] {
    const { perCallerBytes } = this.#limits
    if (perCallerBytes === undefined) return [this.total]
    let pool = this.#callers.get(caller)
    if (pool === undefined) {
      pool = createPool('bodiesPerKey', perCallerBytes)
      this.#callers.set(caller, pool)
    }
    return [this.total, pool]
  }
}

class Lease implements BodyLease {
  readonly serial: number
  readonly pools: readonly Pool[]
  readonly #budget: BodyBudget
  readonly #waitMs: number
  #held = 0
  #pending = 0
  #onRoom: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(budget: BodyBudget, serial: number, pools: readonly Pool[], waitMs: number) {
    this.#budget = budget
    this.serial = serial
    this.pools = pools
    this.#waitMs = waitMs
  }

  get held(): number {
    return this.#held
  }

  /** What it holds plus what it waits for. */
  get wanted(): number {
    return this.#held + this.#pending
  }

  take(bytes: number): boolean {
    for (const pool of this.pools) if (!this.#fits(pool, bytes)) return false
    for (const pool of this.pools) pool.used += bytes
    this.#held += bytes
    return true
  }

  wait(bytes: number, onRoom: () => void, onRefused: (error: AppError) => void): void {
    this.#pending = bytes
    this.#onRoom = onRoom
    this.#timer = setTimeout(() => {
      const full = this.pools.find((pool) => !this.#fits(pool, bytes)) ?? this.#budget.total
      this.#stopWaiting()
      onRefused(noRoom(full, this.#waitMs))
    }, this.#waitMs)
    this.#budget.addWaiter(this)
  }

  tryAgain(): void {
    const bytes = this.#pending
    const onRoom = this.#onRoom
    if (onRoom === undefined || !this.pools.every((pool) => this.#fits(pool, bytes))) return
    this.#stopWaiting()
    this.take(bytes)
    onRoom()
  }

  give(bytes: number): void {
    for (const pool of this.pools) pool.used -= bytes
    this.#held -= bytes
    if (this.#held === 0) this.#giveUpFavour()
    this.#budget.settle()
  }

  release(): void {
    this.#stopWaiting()
    if (this.#held > 0) this.give(this.#held)
    else if (this.#giveUpFavour()) this.#budget.settle()
  }

  #giveUpFavour(): boolean {
    let had = false
    for (const pool of this.pools) {
      if (pool.favoured !== this) continue
      pool.favoured = undefined
      had = true
    }
    return had
  }

  #fits(pool: Pool, bytes: number): boolean {
    if (pool.favoured === this) return this.#held + bytes <= pool.limit
    return pool.used + bytes <= pool.limit
  }

  #stopWaiting(): void {
    if (this.#onRoom === undefined) return
    clearTimeout(this.#timer)
    this.#budget.removeWaiter(this)
    this.#onRoom = undefined
    this.#pending = 0
  }
}

function createPool(key: Pool['key'], limit: number): Pool {
  return { key, limit, used: 0, waiting: 0, favoured: undefined }
}

function noRoom(pool: Pool, waitMs: number): AppError {
  const whose = pool.key === 'bodies' ? 'All request bodies' : 'The request bodies of this key'
  return new AppError(
    'unavailable',
    `${whose} together may take at most ${pool.limit} bytes (server.limits.${pool.key}), and no room became free within ` +
      `${waitMs / 1000} s. Retry later, or send fewer large bodies at once.`,
  )
}

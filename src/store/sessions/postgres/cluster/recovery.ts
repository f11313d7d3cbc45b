import type { Instance } from '../../../../core/cluster/cluster.ts'
import { AppError, isAppError } from '../../../../core/error.ts'
import type { Recovered } from '../../../../core/store.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { LostCommit } from '../../../postgres/transaction.ts'
import type { Database } from '../database.ts'
import { aliveInstances, isAlive } from '../schema/instances.ts'
import { isOver } from './instances.ts'
import { findWaiting, type Taken, takeRun } from './take-over.ts'

const selectRoles = `SELECT
  (SELECT role FROM instance WHERE instance_key = $1 AND ${isAlive}) AS taker,
  (SELECT true FROM instance WHERE instance_key = $2 AND ${isOver}) AS over`

/** What no living instance can go on with. */
const goneOwners = `owner <> $1 AND owner NOT IN ${aliveInstances}`
const selectGone = `SELECT DISTINCT owner FROM run WHERE status IN ('running', 'queued') AND ${goneOwners}
  UNION SELECT owner FROM claim WHERE run_id IS NULL AND answer IS NULL AND ${goneOwners}
  UNION SELECT owner FROM summary_job WHERE ${goneOwners}`

/** By the number of the run. */
type TakenRuns = Map<number, Taken>

/** Takes over what owners have left that can't go on with it. */
export class Recovery {
  readonly #database: Database
  /** Waiting runs that were perhaps taken, by the peers that had them: nobody said whether it was committed. */
  readonly #doubtful = new Map<string, { fence: number; peer: number }>()

  /** What calls of `recover` took before they failed: the next one tells of it. */
  #recovered: TakenRuns = new Map()

  constructor(database: Database) {
    this.#database = database
  }

  /** Peers of which a run may be taken without the caller's knowledge. */
  get doubtful(): number[] {
    return [...this.#doubtful.values()].map(({ peer }) => peer)
  }

  /** At most `limit` runs of an instance that is dead or has left; releases its idempotency keys and summary jobs. */
  async takeOver(own: number, peer: number, at: string, limit: number): Promise<Recovered> {
    const taken: TakenRuns = new Map()
    const [roles] = await this.#database.read.all<{ taker: Instance['role'] | null; over: boolean | null }>(
      selectRoles,
      [own, peer],
    )
    const taker = roles?.taker ?? null
    if (taker === null) throw new AppError('unavailable', 'This instance has left or was declared dead.')
    if (taker === 'guest' || roles?.over !== true) return toRecovered(taken)
    await this.#database.work((sql) => release(sql, [peer]))
    try {
      await this.#clearDoubts(own, taken)
      await this.#takeRuns(taken, peer, own, at, limit)
    } catch (error) {
      // What was taken before the failure is the caller's, who must learn of it.
      if (taken.size === 0) throw error
      this.#database.logger.warn({ error }, 'a takeover of runs was broken off')
    }
    return toRecovered(taken)
  }

  /** Of all owners that never joined, have left or are dead. */
  async recover(owner: string, at: string): Promise<Recovered> {
    const own = await this.#database.owners.keyOf(owner)
    const gone = (await this.#database.read.all<{ owner: number }>(selectGone, [own])).map((row) => row.owner)
    if (gone.length > 0) await this.#database.work((sql) => release(sql, gone))
    const taken = this.#recovered
    await this.#clearDoubts(own, taken)
    for (const key of gone) await this.#takeRuns(taken, key, own, at, Number.POSITIVE_INFINITY)
    this.#recovered = new Map()
    return toRecovered(taken)
  }

  async #takeRuns(taken: TakenRuns, owner: number, taker: number, at: string, limit: number): Promise<void> {
    while (taken.size < limit) {
      const one = await takeRun(this.#database, owner, taker, at).catch((error: unknown) => {
        this.#doubt(error, owner)
        throw error
      })
      if (one === undefined) return
      taken.set(one.runNumber, one)
    }
  }

  #doubt(error: unknown, peer: number): void {
    const lost = isAppError(error) ? error.cause : error
    if (!(lost instanceof LostCommit)) return
    const one = lost.value as Taken | undefined
    if (one !== undefined && 'queued' in one) {
      const { run, fence } = one.queued
      this.#doubtful.set(run.run_id, { fence, peer })
    }
  }

  async #clearDoubts(own: number, taken: TakenRuns): Promise<void> {
    for (const [runId, { fence }] of this.#doubtful) {
      const one = await this.#database.work((sql) => findWaiting(sql, runId, own, fence))
      this.#doubtful.delete(runId)
      if (one !== undefined) taken.set(one.runNumber, one)
    }
  }
}

async function release(sql: Sql, owners: readonly number[]): Promise<void> {
  await sql.run('DELETE FROM claim WHERE owner = ANY($1::int[]) AND run_id IS NULL AND answer IS NULL', [owners])
  await sql.run('UPDATE summary_job SET owner = NULL WHERE owner = ANY($1::int[])', [owners])
}

function toRecovered(taken: TakenRuns): Recovered {
  const recovered: Recovered = { interrupted: [], queued: [] }
  for (const one of [...taken.values()].sort((a, b) => a.runNumber - b.runNumber)) {
    if ('interrupted' in one) recovered.interrupted.push(one.interrupted)
    else recovered.queued.push(one.queued)
  }
  return recovered
}

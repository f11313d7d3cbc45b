import { type AppError, isAppError } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import { isEnded } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import { type Clock, timestamp } from '../../core/time.ts'
import type { Schedule } from '../../core/triggers/schedule.ts'
import type { RunHandle, Runs } from '../services.ts'

const dayMs = 86_400_000
/** Errors that the same request may not have later. */
const passing: readonly AppError['code'][] = [
  'unavailable',
  'rate_limited',
  'conflict',
  'storage_full',
  'timeout',
  'internal',
]

export interface FiringOptions {
  store: Pick<SessionStore, 'listSchedules' | 'settleSchedule' | 'claim' | 'findClaim'>
  runs: () => Pick<Runs, 'start' | 'head' | 'cancel'>
  clock: Clock
  logger: Logger
}

/**
 * Starts the run of a due time. The run and the key of its due time are one commit, so however many instances try it, and
 * whenever one is killed, it starts once.
 */
export class Firing {
  readonly #options: FiringOptions

  constructor(options: FiringOptions) {
    this.#options = options
  }

  /** False: it could not be started now. */
  async fire(schedule: Schedule, dueMs: number): Promise<boolean> {
    const { logger } = this.#options
    const about = { schedule: schedule.name, due_at: timestamp(dueMs) }
    try {
      await this.#fire(schedule, dueMs)
      return true
    } catch (error) {
      const isPassing = !isAppError(error) || passing.includes(error.code)
      if (isPassing) logger.warn({ error, ...about }, 'a scheduled run could not be started now')
      else logger.error({ error, ...about }, 'a scheduled run was refused')
      if (!isPassing) await this.#settle(schedule, dueMs, null).catch(() => {})
      return !isPassing
    }
  }

  /** Not at a due time: somebody asked for it. */
  async run(schedule: Schedule): Promise<RunHandle> {
    const handle = await this.#start(schedule, undefined)
    const { store, clock } = this.#options
    await store.settleSchedule(schedule.name, { due_at: null, at: timestamp(clock()), run_id: handle.runId })
    return handle
  }

  async #fire(schedule: Schedule, dueMs: number): Promise<void> {
    const { store, runs, clock, logger } = this.#options
    const key = keyOf(schedule, dueMs)
    const earlier = await store.findClaim(key)
    if (earlier !== undefined) return this.#settle(schedule, dueMs, earlier.run_id)
    const state = (await store.listSchedules()).find(({ name }) => name === schedule.name)
    const lateMs = clock() - dueMs
    if (state?.paused === true) return this.#settle(schedule, dueMs, null)
    // So that a clock that goes wrong by a second does not lose what is due now.
    if (lateMs > Math.max(schedule.catchUpMs, 60_000)) {
      logger.warn({ schedule: schedule.name, due_at: timestamp(dueMs) }, 'a scheduled run was missed for too long')
      return this.#settle(schedule, dueMs, null)
    }
    const active = schedule.overlap === 'allow' ? undefined : await this.#active(state?.run_id ?? null)
    if (active !== undefined && schedule.overlap === 'skip') {
      const claim = { key, hash: key, expires_at: timestamp(clock() + keptMsOf(schedule)) }
      const taken = await store.claim(claim, { skipped: active })
      if (taken !== undefined) return this.#settle(schedule, dueMs, taken.run_id)
      logger.info({ schedule: schedule.name, run_id: active }, 'a scheduled run was skipped: the last one is not done')
      return this.#settle(schedule, dueMs, null, true)
    }
    if (active !== undefined) {
      await runs()
        .cancel(active, 'superseded')
        .catch((error: unknown) => logger.warn({ error, run_id: active }, 'a scheduled run could not be cancelled'))
    }
    const { runId, replayed } = await this.#start(schedule, dueMs)
    if (!replayed) logger.info({ schedule: schedule.name, run_id: runId }, 'a scheduled run has started')
    await this.#settle(schedule, dueMs, runId)
  }

  #start(schedule: Schedule, dueMs: number | undefined): Promise<RunHandle> {
    const { input, session, user, metadata } = schedule
    const fired = { name: schedule.name, due_at: dueMs === undefined ? null : timestamp(dueMs) }
    const key = dueMs === undefined ? undefined : keyOf(schedule, dueMs)
    return this.#options.runs().start({
      entityId: schedule.agent,
      parts: [typeof input === 'string' ? { type: 'text', text: input } : { type: 'data', data: input }],
      sessionId: session,
      unknownSession: 'create',
      userId: user,
      metadata: { ...metadata, schedule: fired },
      mode: 'background',
      idempotency: key === undefined ? undefined : { key, hash: key, whileRunning: 'join', keptMs: keptMsOf(schedule) },
    })
  }

  /** The run when it has not ended. */
  async #active(runId: string | null): Promise<string | undefined> {
    if (runId === null) return undefined
    try {
      const { status } = await this.#options.runs().head(runId)
      return isEnded(status) ? undefined : runId
    } catch (error) {
      if (isAppError(error) && error.code === 'run_not_found') return undefined
      throw error
    }
  }

  async #settle({ name }: Schedule, dueMs: number, run_id: string | null, skipped = false): Promise<void> {
    const { store, clock } = this.#options
    await store.settleSchedule(name, { due_at: timestamp(dueMs), at: timestamp(clock()), run_id, skipped })
  }
}

/** Of the due time, whatever the schedule says now. */
function keyOf({ name }: Schedule, dueMs: number): string {
  return `schedule ${name} ${timestamp(dueMs)}`
}

/** As long as the due time may be made up for. */
function keptMsOf({ catchUpMs }: Schedule): number {
  return catchUpMs + 2 * dayMs
}

import { logLevelOf } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import { timestamp } from '../../core/time.ts'

const sessionsAtOnce = 50
const triesAtOnce = 50
const everyMs = 60_000
/** How long the result of a run that only tried something again stays. */
const tryMaxAgeMs = 7 * 24 * 60 * 60 * 1_000

export interface RetentionOptions {
  store: SessionStore
  clock: Clock
  logger: Logger
  /** Deletes sessions that have not changed for this long. */
  maxAgeMs: number | undefined
  /** Keeps this many of the newest sessions. */
  maxSessions: number | undefined
  /** Called when sessions were deleted. */
  onPruned?: ((sessions: number) => void) | undefined
  /** Deletes some of what else is too old; gives how many. Called until there is nothing left. */
  expireMore?: (() => Promise<number>) | undefined
}

export interface Retention {
  /** Prunes now and every minute. Tries that ended a week ago go even without a rule. */
  start(): void
  /** Deletes expired sessions in small commits, each followed by a pause of the same length. Resolves with their number. */
  prune(): Promise<number>
  close(): Promise<void>
}

export function createRetention(options: RetentionOptions): Retention {
  const { store, clock, logger, maxAgeMs, maxSessions } = options
  let timer: NodeJS.Timeout | undefined
  let pausing: NodeJS.Timeout | undefined
  let goOn = () => {}
  let pruning: Promise<unknown> | undefined
  let closed = false

  // Other writes wait for one batch at most, not for all of them.
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      goOn = resolve
      pausing = setTimeout(resolve, ms).unref()
    })
  }

  /** Gives how many were deleted. */
  async function repeat(step: () => Promise<number>): Promise<number> {
    let deleted = 0
    while (!closed) {
      const begunMs = performance.now()
      const count = await step()
      if (count === 0) break
      deleted += count
      await pause(performance.now() - begunMs)
    }
    return deleted
  }

  async function prune(): Promise<number> {
    if (maxAgeMs === undefined && maxSessions === undefined) return 0
    const olderThan = maxAgeMs === undefined ? undefined : timestamp(clock() - maxAgeMs)
    const deleted = await repeat(() => store.prune({ olderThan, maxSessions }, sessionsAtOnce))
    if (deleted > 0) {
      logger.info({ sessions: deleted }, 'sessions beyond the retention limits were deleted')
      options.onPruned?.(deleted)
    }
    return deleted
  }

  async function expire(): Promise<void> {
    await prune()
    const before = timestamp(clock() - tryMaxAgeMs)
    await repeat(() => store.deleteTries(before, triesAtOnce))
    await repeat(() => options.expireMore?.() ?? Promise.resolve(0))
  }

  function look(): void {
    timer = undefined
    pruning = expire()
      .catch((error: unknown) =>
        logger[logLevelOf(error)]({ error }, 'retention could not delete sessions; it will retry'),
      )
      .finally(() => {
        pruning = undefined
        if (!closed) timer = setTimeout(look, everyMs).unref()
      })
  }

  return {
    start() {
      if (!closed && timer === undefined && pruning === undefined) look()
    },
    prune,
    async close() {
      closed = true
      clearTimeout(timer)
      clearTimeout(pausing)
      goOn()
      await pruning
    },
  }
}

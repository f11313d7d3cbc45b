import type { PostgresStorage } from '../../config/settings/postgres.ts'
import type { ResolvedServerConfig } from '../../config/types.ts'
import { AppError } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { Timer, Timers } from '../../core/time.ts'
import { explainRefusal } from '../../store/postgres/refusal.ts'

/** The database in which the sessions are, if they are in one. */
export function databaseOf(storage: ResolvedServerConfig['sessionStorage']): PostgresStorage | undefined {
  return typeof storage === 'object' && 'type' in storage && storage.type === 'postgres' ? storage : undefined
}

/** The database in which the knowledge is, if it is in one. */
export function databaseOfKnowledge(vectorDb: ResolvedServerConfig['vectorDb']): PostgresStorage | undefined {
  return vectorDb?.type === 'postgres' ? vectorDb.storage : undefined
}

/** What takes the place of `agentserve backup`, for people: the address is a secret and stays a variable. */
export function dumpCommand({ schema }: Pick<PostgresStorage, 'schema'>): string {
  return `\`pg_dump --format=custom --schema=${schema} --file=agentserve.dump "$AGENTSERVE_DATABASE_URL"\``
}

export interface OpenOptions {
  /** How long it may be away; 0: it is tried once, and nothing is logged. */
  patienceMs: number
  signal: AbortSignal
  logger: Logger
  timers: Timers
}

export const startPatienceMs = 60_000
const tellMs = 5_000
const retryMs = 1_000

/** Opens a store in a database, which may be restarting or not be there yet (`untilDone`). */
export async function openDatabase(
  open: () => Promise<void>,
  { place, isExposed }: Pick<PostgresStorage, 'place' | 'isExposed'>,
  options: OpenOptions,
): Promise<void> {
  await untilDone(open, place, options)
  if (isExposed && options.patienceMs > 0) {
    options.logger.warn(
      {},
      `the connection to the database at ${place} is not encrypted: set server.storage.tls to true, or to false if nobody else can read it`,
    )
  }
}

/** Repeats the work as a whole while its database is away or full. Throws `unavailable` with what to do, at once when waiting would not help. */
export async function untilDone(
  work: () => Promise<void>,
  place: string,
  { patienceMs, signal, logger, timers }: OpenOptions,
): Promise<void> {
  let isLate = patienceMs === 0
  let tells = true
  const deadline = timers.set(() => (isLate = true), patienceMs)
  let told: Timer | undefined
  try {
    for (;;) {
      try {
        await work()
        break
      } catch (cause) {
        const { message, passes } = explainRefusal(cause, place)
        if (!passes || isLate) throw new AppError('unavailable', message, { cause })
        if (tells) {
          logger.warn({}, `${message} Trying again for up to ${patienceMs / 1000} seconds after the start.`)
          tells = false
          told = timers.set(() => (tells = true), tellMs)
        }
      }
      await pause(timers, retryMs, signal)
    }
  } finally {
    timers.clear(deadline)
    timers.clear(told)
  }
  if (told !== undefined) logger.info({}, `the database at ${place} is there`)
}

/** Throws `unavailable` when the signal aborts. */
async function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = timers.set(resolve, ms)
  const wake = () => resolve()
  signal.addEventListener('abort', wake, { once: true })
  if (signal.aborted) wake()
  await promise
  timers.clear(timer)
  signal.removeEventListener('abort', wake)
  if (signal.aborted) throw new AppError('unavailable', 'The server has been shut down.')
}

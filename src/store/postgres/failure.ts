import { AppError, invalid, isAppError } from '../../core/error.ts'
import { BusyConnections } from './turns.ts'

/**
 * What an error of Postgres means for a write: `away`: the database can't be reached, and whether the statement was committed
 * is not known. `again`: it was undone, and may succeed when it is repeated. `full`: no space. `row`: a value that can't be
 * stored. `refused`: the role or the configuration forbids it.
 */
export type Failure = 'away' | 'again' | 'full' | 'row' | 'refused' | 'other'

const byState: Record<string, Failure> = {
  '40001': 'again',
  '40003': 'away',
  '40P01': 'again',
  '53100': 'full',
  // A lock, or the time of the statement.
  '55P03': 'again',
  // After a failover the connection may lead to a standby.
  '25006': 'away',
  '25P03': 'away',
  '25P04': 'away',
  '42501': 'refused',
  '3D000': 'refused',
}

const byClass: Record<string, Failure> = {
  '08': 'away',
  '22': 'row',
  '23': 'row',
  // No memory or connections; the space of the disk is above.
  '53': 'away',
  '54': 'row',
  '28': 'refused',
  // Somebody ended the statement, the session or the database, or it took too long.
  '57': 'away',
}

/** Shorter waits would only join the queue again. */
const busySeconds = 5

/** A character that no text column can hold. */
const unstorable = '22021'

const network = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
])
/** Of a connection that can't be made now: a socket that is not there while the database starts again, or no handle left for it. */
const unconnected = new Set(['ENOENT', 'EMFILE', 'ENFILE'])
const lost =
  /connection terminated|connection ended|not queryable|query read timeout|timeout exceeded|timeout expired|client was closed|cannot use a pool after/i

export function classify(error: unknown): Failure {
  if (!(error instanceof Error)) return 'other'
  const { code, syscall } = error as { code?: unknown; syscall?: unknown }
  if (typeof code === 'string') {
    if (network.has(code) || (syscall === 'connect' && unconnected.has(code))) return 'away'
    const known = byState[code] ?? byClass[code.slice(0, 2)]
    if (known !== undefined && code.length === 5) return known
  }
  if (error instanceof AggregateError) return error.errors.some((one) => classify(one) === 'away') ? 'away' : 'other'
  return lost.test(error.message) ? 'away' : 'other'
}

/** The error for the callers of a read or write. It never has the address of the database. */
export function toStoreError(error: unknown): AppError {
  if (isAppError(error)) return error
  if (error instanceof BusyConnections)
    return new AppError('unavailable', 'All connections to the database are at work. Retry in some seconds.', {
      cause: error,
      retryAfterSeconds: busySeconds,
    })
  switch (classify(error)) {
    case 'full':
      return new AppError('storage_full', 'The database has no space left. Nothing was written. Free some space.', {
        cause: error,
      })
    case 'away':
    case 'again':
      return new AppError('unavailable', 'The database can not be reached or is busy. Retry in a moment.', {
        cause: error,
        retryAfterSeconds: 1,
      })
    case 'refused':
      return new AppError('unavailable', 'The database refuses this server. `agentserve doctor` says why.', {
        cause: error,
      })
    case 'row':
      if ((error as { code?: unknown }).code === unstorable)
        return invalid('A text has the character NUL, which the database can not store. Remove it.')
      return refused(error)
    default:
      return refused(error)
  }
}

function refused(cause: unknown): AppError {
  return new AppError('internal', "The database refused a statement. The server's log has the details.", { cause })
}

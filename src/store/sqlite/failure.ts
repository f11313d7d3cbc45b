import { AppError, isAppError } from '../../core/error.ts'

/** What an SQLite error means for a batch of writes. */
export type Failure = 'constraint' | 'full' | 'busy' | 'fatal' | 'other'

const byCode: Record<string, Failure> = {
  SQLITE_CONSTRAINT: 'constraint',
  SQLITE_FULL: 'full',
  SQLITE_BUSY: 'busy',
  SQLITE_LOCKED: 'busy',
  SQLITE_IOERR: 'fatal',
  SQLITE_CORRUPT: 'fatal',
  SQLITE_NOTADB: 'fatal',
  SQLITE_READONLY: 'fatal',
  SQLITE_CANTOPEN: 'fatal',
  SQLITE_PERM: 'fatal',
}

export function classify(error: unknown): Failure {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return byCode[code] ?? 'other'
}

/** The error for the callers of a read or write. */
export function toStoreError(error: unknown, path = 'the session database'): AppError {
  if (isAppError(error)) return error
  switch (classify(error)) {
    case 'full':
      return new AppError(
        'storage_full',
        'The disk that holds the sessions is full. Nothing was written. Free some space.',
        {
          cause: error,
        },
      )
    case 'busy':
      return new AppError('unavailable', 'Another process holds the session database.', {
        cause: error,
        retryAfterSeconds: 1,
      })
    case 'fatal':
      return new AppError(
        'unavailable',
        `${describeFatal(error, path)} \`agentserve doctor --check\` says what to do.`,
        {
          cause: error,
        },
      )
    default:
      return new AppError('internal', "The session database refused a statement. The server's log has the details.", {
        cause: error,
      })
  }
}

function describeFatal(error: unknown, path: string): string {
  const { code } = error as { code?: unknown }
  if (code === 'SQLITE_NOTADB') return `'${path}' is not a database.`
  if (code === 'SQLITE_CORRUPT') return `The session database '${path}' is damaged.`
  return `The session database '${path}' failed (${String(code)}), so the server must stop.`
}

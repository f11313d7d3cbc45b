import { applicationIds } from '../../../sqlite/application.ts'
import type { DatabaseKind } from '../../../sqlite/database.ts'
import { migrations } from './migrations.ts'

/** `Checkpoints` replaces SQLite's own checkpoints. */
export const sessionsDatabase: DatabaseKind = {
  name: 'session database',
  applicationId: applicationIds.sessions,
  migrations,
  pragmas: { cache_size: -16_000, wal_autocheckpoint: 0 },
  // Pages that they read again come from the system's cache at the same cost.
  readerCacheSize: -4_000,
}

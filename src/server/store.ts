import type { ResolvedServerConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import type { SessionStore } from '../core/store.ts'
import { cachedStore } from '../store/cached/cached-store.ts'
import { validatedStore } from '../store/cached/validated-store.ts'
import { memoryStore } from '../store/sessions/memory/store.ts'
import { postgresStore } from '../store/sessions/postgres/store.ts'
import { sqliteStore } from '../store/sessions/sqlite/store.ts'
import { databaseOf } from './database/database.ts'

/** `onFatal`: the store confirms no more writes. `isCommand`: it leaves it to servers to change what older ones need. */
export function createStore(
  storage: ResolvedServerConfig['sessionStorage'],
  logger: Logger,
  onFatal: (error: unknown) => void,
  isCommand: boolean,
): SessionStore {
  if (storage === 'memory') return memoryStore()
  const database = databaseOf(storage)
  if (database !== undefined) return validatedStore(postgresStore({ ...database, logger, contracts: !isCommand }))
  if ('path' in storage) return cachedStore(sqliteStore({ ...storage, logger, onFatal }))
  // Others may write to a store that was passed in.
  return storage as SessionStore
}

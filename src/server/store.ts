import type { ResolvedServerConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import type { SessionStore } from '../core/store.ts'
import { cachedStore } from '../store/cached/cached-store.ts'
import { memoryStore } from '../store/sessions/memory/store.ts'
import { sqliteStore } from '../store/sessions/sqlite/store.ts'

/** `onFatal`: the store confirms no more writes. */
export function createStore(
  storage: ResolvedServerConfig['sessionStorage'],
  logger: Logger,
  onFatal: (error: unknown) => void,
): SessionStore {
  if (storage === 'memory') return memoryStore()
  // A store that was passed in may be shared with other servers.
  if ('path' in storage) return cachedStore(sqliteStore({ ...storage, logger, onFatal }))
  return storage
}

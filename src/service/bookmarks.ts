import type { SessionStore } from '../core/store.ts'
import { type Clock, timestamp } from '../core/time.ts'
import { claimKeptMs } from './idempotency.ts'
import type { Bookmarks } from './services.ts'

/** Kept as claims, which every store shares between its instances and forgets after a day. */
export function createBookmarks(store: SessionStore, clock: Clock): Bookmarks {
  return {
    async add(key, value) {
      const expiresAt = timestamp(clock() + claimKeptMs)
      if ((await store.claim({ key, hash: '', expires_at: expiresAt })) !== undefined) return false
      await store.completeClaim(key, value)
      return true
    },
    find: async (key) => (await store.findClaim(key))?.answer ?? undefined,
  }
}

import type { SessionStore } from '../core/store.ts'
import { type Clock, timestamp } from '../core/time.ts'
import { claimKeptMs } from './idempotency.ts'
import type { Bookmarks } from './services.ts'

/**
 * Kept as claims, which every store shares between its instances and forgets after a day. Key and value are one commit: no
 * key is left without a value.
 */
export function createBookmarks(store: SessionStore, clock: Clock): Bookmarks {
  return {
    async add(key, value) {
      const claim = { key, hash: '', expires_at: timestamp(clock() + claimKeptMs) }
      return (await store.claim(claim, value)) === undefined
    },
    find: async (key) => (await store.findClaim(key))?.answer ?? undefined,
  }
}

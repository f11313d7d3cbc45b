import type { AuditEntry, AuditFilter, AuditStore } from '../../../core/access/audit.ts'
import { cutPage, decodeCursor, isAfter, type Keyset } from '../../rules/cursor.ts'
import { copy, type MemoryState } from './rows.ts'

type Step = <T>(work: () => T) => Promise<T>

export function auditStore(state: MemoryState, step: Step): AuditStore {
  return {
    addAuditEntry: (entry) =>
      step(() => {
        state.auditEntries.push(copy(entry))
      }),
    settleAuditEntry: ({ entry_id }, outcome, detail) =>
      step(() => {
        const entry = state.auditEntries.find((one) => one.entry_id === entry_id)
        if (entry === undefined || entry.outcome !== null) return
        Object.assign(entry, { outcome, detail: copy(detail) ?? entry.detail })
      }),
    listAuditEntries: (filter, { limit, cursor }) =>
      step(() => {
        const after = decodeCursor(cursor)
        const found = state.auditEntries
          .filter((entry) => fits(entry, filter) && (after === undefined || isAfter(keyOf(entry), after)))
          .sort(newestFirst)
        return cutPage(found.slice(0, limit + 1).map(copy), limit, keyOf)
      }),
    hideAuditedUser: ({ userId, caller }, pseudonym, limit) =>
      step(() => {
        let count = 0
        for (const entry of state.auditEntries) {
          const isObject = entry.object_kind === 'user' && entry.object_id === userId
          const isUser = entry.user_id === userId
          const isCaller = entry.caller === caller
          if (entry.action === 'user.erase' || !(isObject || isUser || isCaller) || count === limit) continue
          if (isUser || isCaller) entry.caller = pseudonym
          if (isUser) entry.user_id = pseudonym
          if (isObject) entry.object_id = pseudonym
          count++
        }
        return count
      }),
    deleteAuditEntries: (before, limit) =>
      step(() => {
        const old = state.auditEntries.filter(({ at }) => at < before).sort(newestFirst)
        const gone = new Set(old.slice(-limit))
        state.auditEntries = state.auditEntries.filter((entry) => !gone.has(entry))
        return gone.size
      }),
  }
}

function newestFirst(one: AuditEntry, other: AuditEntry): number {
  return isAfter(keyOf(one), keyOf(other)) ? 1 : -1
}

function keyOf({ at, entry_id }: AuditEntry): Keyset {
  return { time: at, id: entry_id }
}

function fits(entry: AuditEntry, { since, until, ...same }: AuditFilter): boolean {
  if ((since !== undefined && entry.at < since) || (until !== undefined && entry.at >= until)) return false
  return Object.entries(same).every(
    ([field, value]) => value === undefined || entry[field as keyof AuditEntry] === value,
  )
}

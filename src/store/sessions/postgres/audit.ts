import type { AuditEntry, AuditFilter, AuditStore } from '../../../core/access/audit.ts'
import { isStorable } from '../../postgres/text.ts'
import { cutPage, decodeCursor } from '../../rules/cursor.ts'
import type { Database } from './database.ts'

export function auditStore({ read, work }: Database): AuditStore {
  return {
    async addAuditEntry(entry) {
      const { detail, ...same } = entry
      const values = names.map((name) => same[name])
      await work((sql) => sql.run(insert, [...values, detail && JSON.stringify(detail)]))
    },
    async settleAuditEntry({ at, entry_id }, outcome, detail) {
      await work((sql) => sql.run(settle, [at, entry_id, outcome, detail && JSON.stringify(detail)]))
    },
    async listAuditEntries(filter, { limit, cursor }) {
      const after = decodeCursor(cursor)
      const values = Object.values(filter).concat(after === undefined ? [] : [after.time, after.id])
      if (!values.every((value) => value === undefined || isStorable(value))) return { items: [], next: null }
      const { conditions, params } = conditionsOf(filter)
      if (after !== undefined) {
        params.push(after.time, after.id)
        conditions.push(`(at, entry_id) < ($${params.length - 1}, $${params.length})`)
      }
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
      const sql = `SELECT ${names}, detail FROM audit_entry ${where} ORDER BY at DESC, entry_id DESC LIMIT $${params.length + 1}`
      const rows = await read.all<AuditEntry>(sql, [...params, limit + 1])
      return cutPage(rows, limit, ({ at, entry_id }) => ({ time: at, id: entry_id }))
    },
    async hideAuditedUser({ userId, caller }, pseudonym, limit) {
      return isStorable(userId) ? work((sql) => sql.run(hide, [userId, caller, pseudonym, limit])) : 0
    },
    async deleteAuditEntries(before, limit) {
      const found = await read.all('SELECT 1 FROM audit_entry WHERE at < $1 LIMIT 1', [before])
      return found.length === 0 ? 0 : work((sql) => sql.run(remove, [before, limit]))
    },
  }
}

const names = [
  'at',
  'entry_id',
  'action',
  'caller',
  'user_id',
  'object_kind',
  'object_id',
  'outcome',
  'request_id',
  'server_id',
] as const satisfies (keyof AuditEntry)[]

const insert = `INSERT INTO audit_entry (${names}, detail) VALUES (${names.map((_, index) => `$${index + 1}`)}, $11)`

const settle = `UPDATE audit_entry SET outcome = $3, detail = coalesce($4::jsonb, detail)
  WHERE at = $1 AND entry_id = $2 AND outcome IS NULL`

// Three look-ups by index; an OR could read the whole table.
const mentions = (condition: string) =>
  `SELECT at, entry_id FROM audit_entry WHERE action <> 'user.erase' AND ${condition}`
const hide = `UPDATE audit_entry SET
    caller = CASE WHEN user_id = $1 OR caller = $2 THEN $3 ELSE caller END,
    user_id = CASE WHEN user_id = $1 THEN $3 ELSE user_id END,
    object_id = CASE WHEN object_kind = 'user' AND object_id = $1 THEN $3 ELSE object_id END
  WHERE (at, entry_id) IN (SELECT at, entry_id FROM (${mentions('user_id = $1')}
    UNION ${mentions('caller = $2')}
    UNION ${mentions("object_id = $1 AND object_kind = 'user'")}) AS found LIMIT $4)`

// Several servers may do it at once: what another one deletes is left to it.
const remove = `DELETE FROM audit_entry WHERE (at, entry_id) IN
  (SELECT at, entry_id FROM audit_entry WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`

function conditionsOf(filter: AuditFilter): { conditions: string[]; params: (string | number)[] } {
  const conditions: string[] = []
  const params: (string | number)[] = []
  const add = (condition: string, value: string | undefined) => {
    if (value !== undefined) conditions.push(`${condition} $${params.push(value)}`)
  }
  for (const field of ['action', 'caller', 'user_id', 'object_id', 'outcome'] as const) add(`${field} =`, filter[field])
  add('at >=', filter.since)
  add('at <', filter.until)
  return { conditions, params }
}

import type { AuditEntry, AuditFilter, AuditStore } from '../../../core/access/audit.ts'
import { cutPage, decodeCursor } from '../../rules/cursor.ts'
import type { Connection, SqlRow, SqlValue } from '../../sqlite/connection.ts'

type Using = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

export function auditStore(reading: Using, working: Using): AuditStore {
  return {
    addAuditEntry: (entry) =>
      working(async (writer) => {
        await writer.run(insert, valuesOf(entry))
      }),
    settleAuditEntry: ({ at, entry_id }, outcome, detail) =>
      working(async (writer) => {
        await writer.run(settle, [at, entry_id, outcome, detail && JSON.stringify(detail)])
      }),
    async listAuditEntries(filter, { limit, cursor }) {
      const after = decodeCursor(cursor)
      const { conditions, params } = conditionsOf(filter)
      if (after !== undefined) {
        conditions.push('(audit_at, audit_entry_id) < (?, ?)')
        params.push(after.time, after.id)
      }
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
      const sql = `SELECT * FROM audit_entries ${where} ORDER BY audit_at DESC, audit_entry_id DESC LIMIT ?`
      const rows = await reading((connection) => connection.all(sql, [...params, limit + 1]))
      return cutPage(rows.map(toEntry), limit, ({ at, entry_id }) => ({ time: at, id: entry_id }))
    },
    hideAuditedUser: ({ userId, caller }, pseudonym, limit) =>
      working((writer) => writer.run(hide, [userId, caller, pseudonym, limit])),
    async deleteAuditEntries(before, limit) {
      const [found] = await reading((connection) =>
        connection.all('SELECT 1 FROM audit_entries WHERE audit_at < ? LIMIT 1', [before]),
      )
      return found === undefined ? 0 : working((writer) => writer.run(remove, [before, limit]))
    },
  }
}

const insert = `INSERT INTO audit_entries (audit_at, audit_entry_id, audit_action, audit_caller, audit_user_id,
    audit_object_kind, audit_object_id, audit_outcome, audit_request_id, audit_server_id, audit_detail)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const settle = `UPDATE audit_entries SET audit_outcome = ?3, audit_detail = coalesce(?4, audit_detail)
  WHERE audit_at = ?1 AND audit_entry_id = ?2 AND audit_outcome IS NULL`

// Three look-ups by index; an OR would read the whole table.
const mentions = (condition: string) => `SELECT audit_at, audit_entry_id FROM audit_entries
  WHERE audit_action <> 'user.erase' AND ${condition}`
const hide = `UPDATE audit_entries SET
    audit_caller = iif(audit_user_id = ?1 OR audit_caller = ?2, ?3, audit_caller),
    audit_user_id = iif(audit_user_id = ?1, ?3, audit_user_id),
    audit_object_id = iif(audit_object_kind = 'user' AND audit_object_id = ?1, ?3, audit_object_id)
  WHERE (audit_at, audit_entry_id) IN (SELECT * FROM (${mentions('audit_user_id = ?1')}
    UNION ${mentions('audit_caller = ?2')}
    UNION ${mentions("audit_object_id = ?1 AND audit_object_kind = 'user'")}) LIMIT ?4)`

const remove = `DELETE FROM audit_entries WHERE (audit_at, audit_entry_id) IN
  (SELECT audit_at, audit_entry_id FROM audit_entries WHERE audit_at < ? ORDER BY audit_at LIMIT ?)`

function valuesOf(entry: AuditEntry): SqlValue[] {
  const { at, entry_id, action, caller, user_id, object_kind, object_id, outcome, request_id, server_id, detail } =
    entry
  return [
    ...[at, entry_id, action, caller, user_id, object_kind, object_id, outcome, request_id, server_id],
    detail && JSON.stringify(detail),
  ]
}

const columns = {
  action: 'audit_action',
  caller: 'audit_caller',
  user_id: 'audit_user_id',
  object_id: 'audit_object_id',
  outcome: 'audit_outcome',
} as const

function conditionsOf(filter: AuditFilter): { conditions: string[]; params: SqlValue[] } {
  const conditions: string[] = []
  const params: SqlValue[] = []
  const add = (condition: string, value: string | undefined) => {
    if (value === undefined) return
    conditions.push(condition)
    params.push(value)
  }
  for (const [field, column] of Object.entries(columns)) add(`${column} = ?`, filter[field as keyof typeof columns])
  add('audit_at >= ?', filter.since)
  add('audit_at < ?', filter.until)
  return { conditions, params }
}

function toEntry(row: SqlRow): AuditEntry {
  return {
    entry_id: row.audit_entry_id as string,
    at: row.audit_at as string,
    action: row.audit_action as AuditEntry['action'],
    caller: row.audit_caller as string,
    user_id: row.audit_user_id as string | null,
    object_kind: row.audit_object_kind as AuditEntry['object_kind'],
    object_id: row.audit_object_id as string | null,
    outcome: row.audit_outcome as string | null,
    request_id: row.audit_request_id as string | null,
    server_id: row.audit_server_id as string,
    detail: row.audit_detail === null ? null : JSON.parse(row.audit_detail as string),
  }
}

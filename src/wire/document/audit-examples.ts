const entry = {
  entry_id: 'aud_01kcz6t8d1m0x4zq',
  at: '2026-01-05T09:30:00.000Z',
  action: 'session.delete',
  caller: 'desk',
  user_id: null,
  object_kind: 'session',
  object_id: 'ses_01kcz6t8d1m0x4zq',
  outcome: 'ok',
  request_id: 'req_01kcz6t8d1m0x4zq',
  server_id: 'srv_01kcz6t8d1m0x4zq',
  detail: null,
}

/** Of the audit log. */
export const auditExamples: Record<string, unknown> = {
  AuditEntry: entry,
  AuditEntryList: { entries: [entry], count: 1, next_cursor: null },
}

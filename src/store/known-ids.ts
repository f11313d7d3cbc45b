import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

export type KnownKind = 'agents' | 'sessions' | 'runs' | 'documents'

const most = 500

const ofSessions = `WHERE session_id NOT IN (SELECT hidden_session_id FROM hidden_sessions) ORDER BY updated_at DESC, session_id DESC LIMIT ${most}`
const queries: Record<KnownKind, string> = {
  agents: `SELECT DISTINCT entity_id AS id FROM runs ORDER BY entity_id LIMIT ${most}`,
  sessions: `SELECT session_id AS id FROM sessions ${ofSessions}`,
  runs: `SELECT run_id AS id FROM runs WHERE run_session_id NOT IN (SELECT hidden_session_id FROM hidden_sessions) ORDER BY run_number DESC LIMIT ${most}`,
  documents: `SELECT DISTINCT source AS id FROM document ORDER BY source LIMIT ${most}`,
}

/**
 * The newest ids in a database file, read beside the process that owns it: for Tab, where opening the stores takes too long.
 * Reads with Node's own SQLite, which loads in a few milliseconds. Empty without a file.
 */
export function readKnownIds(path: string, kind: KnownKind): string[] {
  if (!existsSync(path)) return []
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database
      .prepare(queries[kind])
      .all()
      .map(({ id }) => String(id))
  } finally {
    database.close()
  }
}

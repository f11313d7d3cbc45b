import { AppError } from '../../../../core/error.ts'
import type { Connection } from '../../../sqlite/connection.ts'

/** Sessions whose rows no reader may see: they are being restored or deleted. Saves readers a query. */
export class HiddenSessions {
  #ids: ReadonlySet<string> = new Set()

  /** An immutable snapshot. A read that began before rows were deleted may still have found them. */
  get ids(): ReadonlySet<string> {
    return this.#ids
  }

  get size(): number {
    return this.#ids.size
  }

  has(sessionId: string): boolean {
    return this.#ids.has(sessionId)
  }

  add(sessionId: string): void {
    this.#ids = new Set(this.#ids).add(sessionId)
  }

  delete(sessionId: string): void {
    const ids = new Set(this.#ids)
    ids.delete(sessionId)
    this.#ids = ids
  }
}

export const isShown = 'run_session_id NOT IN (SELECT hidden_session_id FROM hidden_sessions)'

export async function isHidden(connection: Pick<Connection, 'all'>, sessionId: string): Promise<boolean> {
  const rows = await connection.all('SELECT 1 FROM hidden_sessions WHERE hidden_session_id = ?', [sessionId])
  return rows.length > 0
}

export async function hide(writer: Connection, sessionIds: readonly string[]): Promise<void> {
  const sql = 'INSERT INTO hidden_sessions SELECT value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING'
  await writer.run(sql, [JSON.stringify(sessionIds)])
}

/** Call it when no rows are left, or all of them may be seen. */
export async function unhide(writer: Connection, sessionIds: readonly string[]): Promise<void> {
  const sql = 'DELETE FROM hidden_sessions WHERE hidden_session_id IN (SELECT value FROM json_each(?))'
  await writer.run(sql, [JSON.stringify(sessionIds)])
}

export async function listHidden(connection: Pick<Connection, 'all'>): Promise<string[]> {
  const rows = await connection.all('SELECT hidden_session_id FROM hidden_sessions ORDER BY hidden_session_id')
  return rows.map((row) => row.hidden_session_id as string)
}

/** The error for an id that still has hidden rows. */
export function inTheWay(sessionId: string): AppError {
  return new AppError('unavailable', `Session '${sessionId}' is being imported or deleted. Retry in a moment.`, {
    retryAfterSeconds: 1,
  })
}

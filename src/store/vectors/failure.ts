import { isAppError } from '../../core/error.ts'
import type { VectorDatabase } from './database.ts'
import { findList, type List } from './lists.ts'

/** No such table, column, type, function or operator; or a type of another number. */
const missing = new Set(['42P01', '42703', '42704', '42883', '42804'])

/** The list is not the one that was opened: it was dropped, and perhaps made anew. */
export class ListReplaced extends Error {}

/**
 * The error to throw for one of a list's statements: `ListReplaced`; or one that is no `AppError` when the database lost what
 * the list needs, so that it is made again.
 */
export async function explain(database: Pick<VectorDatabase, 'read'>, list: List, error: unknown): Promise<unknown> {
  const cause = isAppError(error) ? error.cause : error
  if (!missing.has(String((cause as { code?: unknown } | undefined)?.code))) return error
  const now = await findList(database, list.name)
  if (now?.key !== list.key) return new ListReplaced(`the list ${list.name} was replaced`, { cause })
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Error(`the database lost what its table needs: ${reason}`, { cause })
}

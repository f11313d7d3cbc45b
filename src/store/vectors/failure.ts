import { isAppError } from '../../core/error.ts'
import type { List } from './lists.ts'

/** No such table, column, type, function or operator; or a type of another number. */
const missing = new Set(['42P01', '42703', '42704', '42883', '42804'])

/** The list is not as it was when it was opened: it was dropped or made anew, or the database lost what it needs. */
export class ListReplaced extends Error {}

/** The error to throw for one of a list's statements. */
function explain(list: List, error: unknown): unknown {
  const cause = isAppError(error) ? error.cause : error
  if (!missing.has(String((cause as { code?: unknown } | undefined)?.code))) return error
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new ListReplaced(`the list ${list.name} is not as it was: ${reason}`, { cause })
}

/** Does something with a list, and throws its errors as those of the list. */
export function explaining(list: List): <T>(use: () => Promise<T>) => Promise<T> {
  return async (use) => {
    try {
      return await use()
    } catch (error) {
      throw explain(list, error)
    }
  }
}

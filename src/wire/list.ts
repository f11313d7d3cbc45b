import { z } from 'zod'
import type { Page } from '../core/page.ts'
import { integer, text } from '../schema/request-field.ts'

/** The paging parameters of every list. */
export const pageQuery = {
  limit: integer(1, 100).default(20).describe('The number of items per page, 1 to 100.'),
  cursor: text().optional().describe('`next_cursor` of the preceding page.'),
}

/** The schema of a list answer with the items under `key`. */
export function listOf<K extends string, S extends z.ZodType>(key: K, item: S) {
  return z.object({ [key]: z.array(item) } as Record<K, z.ZodArray<S>>).extend({
    count: z.int().describe('The number of items in this page.'),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  })
}

export function toList<K extends string, T>(key: K, page: Page<T>) {
  return { [key]: page.items, count: page.items.length, next_cursor: page.next }
}

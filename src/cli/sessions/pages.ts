import type { SessionFilter } from '../../client/sessions.ts'
import type { SessionsOptions } from './action.ts'

const mostAPage = 100

interface ListPage {
  next_cursor: string | null
}

/** The items of a list page by page: `limit` of them, or all. Gives where it stopped; null at the end. */
export async function* readPages<P extends ListPage, T>(
  read: (page: { limit: number; cursor: string | undefined }) => Promise<P>,
  itemsOf: (page: P) => T[],
  limit: number | undefined,
): AsyncGenerator<T[], string | null> {
  let left = limit ?? Number.POSITIVE_INFINITY
  for (let next: string | undefined; ; ) {
    const page = await read({ limit: Math.min(left, mostAPage), cursor: next })
    const items = itemsOf(page)
    yield items
    left -= items.length
    if (page.next_cursor === null || left <= 0) return page.next_cursor
    next = page.next_cursor
  }
}

export function filterOf({ agent, team, workflow, user }: SessionsOptions): SessionFilter {
  return { agent_id: agent, team_id: team, workflow_id: workflow, user_id: user }
}

const usualLimit = 20

/** How many of a list are asked for; undefined: all. */
export function limitOf({ limit, all }: SessionsOptions): number | undefined {
  return all === true ? undefined : (limit ?? usualLimit)
}

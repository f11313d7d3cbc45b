import type { RunFilter, SessionFilter, SessionListFilter } from '../../../../core/store.ts'
import { isStorable } from '../../../postgres/text.ts'
import type { Keyset } from '../../../rules/cursor.ts'
import { ownersOf } from '../../rows/rows.ts'

/** Collects the values of a statement that is put together; `add` gives the place of one. */
export class Values {
  readonly all: unknown[] = []

  readonly add = (value: unknown): string => `$${this.all.push(value)}`
}

/** Whether rows may have these texts: one that can't be stored fails the statement. */
export function mayFit(filter: SessionListFilter | RunFilter): boolean {
  return Object.values(filter).every((value) => typeof value !== 'string' || isStorable(value))
}

export const newestFirst = 'ORDER BY listed_at DESC, listed_id DESC'

/** Joins the row of `session`, by a probe for each id: the planner could read all sessions to join a few. */
export const withSession = (id: string) =>
  `CROSS JOIN LATERAL (SELECT * FROM session WHERE session_id = ${id} LIMIT 1) AS session`

/** Whether the session has or had the owner. The sub-select probes an index; EXISTS under OR would read all of it. */
function isOwnedBy(kind: string, owner: string, { add }: Values): string {
  const [present, earlier] = [add(owner), add(owner)]
  return `(session.${kind}_id = ${present} OR (SELECT true FROM session_owner AS other
    WHERE other.session_id = session.session_id AND other.kind = '${kind}' AND other.owner_id = ${earlier} LIMIT 1))`
}

/** Conditions for the sessions that all these owners have or had. */
export function ownedBy(filter: SessionFilter, values: Values): string[] {
  return ownersOf(filter).map(([kind, owner]) => isOwnedBy(kind, owner, values))
}

/**
 * When sessions changed, and their ids, without regard to `status`. Reads the index of one owner's present and earlier
 * sessions; other conditions are checked per row. With `most`, the newest of them.
 */
export function listedKeys(
  filter: SessionListFilter,
  after: Keyset | undefined,
  values: Values,
  most?: number,
): string {
  // Users come first: they have the fewest sessions.
  const [first, ...others] = ownersOf(filter).reverse()
  const { add } = values
  const limit = most === undefined ? '' : `LIMIT ${add(most)}`
  const part = (table: string, from: string, conditions: string[]) => {
    const [time, id] = [`${table}.updated_at`, `${table}.session_id`]
    for (const [kind, owner] of others) conditions.push(isOwnedBy(kind, owner, values))
    if (filter.updated_before !== undefined) conditions.push(`${time} < ${add(filter.updated_before)}`)
    if (after !== undefined) conditions.push(`(${time}, ${id}) < (${add(after.time)}, ${add(after.id)})`)
    // Each part is sorted by itself: the planner reads no index in order below a union.
    const order = most === undefined ? '' : `ORDER BY ${time} DESC, ${id} DESC ${limit}`
    return `SELECT ${time} AS listed_at, ${id} AS listed_id FROM ${from}
      ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`} ${order}`
  }
  if (first === undefined) return part('session', 'session', [])
  const [kind, owner] = first
  const mine = add(owner)
  const present = part('session', 'session', [`session.${kind}_id = ${mine}`])
  const earlier = part('earlier', `session_owner AS earlier ${withSession('earlier.session_id')}`, [
    `earlier.kind = '${kind}'`,
    `earlier.owner_id = ${mine}`,
    `session.${kind}_id IS DISTINCT FROM ${mine}`,
  ])
  return `(${present}) UNION ALL (${earlier}) ${most === undefined ? '' : `${newestFirst} ${limit}`}`
}

import type { SessionFilter, SessionsClient } from '../../../client/sessions.ts'
import { parseDuration } from '../../../core/duration.ts'
import type { Cost } from '../../../core/run.ts'
import type { SessionOverview } from '../../../core/session.ts'
import { UsageError } from '../../command/exit.ts'
import { formatCost } from '../../runs/cost.ts'
import { tableTime } from '../../terminal/when.ts'
import type { SessionsOptions } from './action.ts'

const maxAPage = 100
const usualLimit = 20

interface ListPage {
  next_cursor: string | null
}

/** Reads a list page by page: `limit` items, or all. Gives the next cursor; null at the end. */
export async function* readPages<P extends ListPage, T>(
  read: (page: { limit: number; cursor: string | undefined }) => Promise<P>,
  itemsOf: (page: P) => T[],
  limit: number | undefined,
): AsyncGenerator<T[], string | null> {
  let left = limit ?? Number.POSITIVE_INFINITY
  for (let next: string | undefined; ; ) {
    const page = await read({ limit: Math.min(left, maxAPage), cursor: next })
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

/** Undefined: all. */
export function limitOf({ limit, all }: SessionsOptions): number | undefined {
  return all === true ? undefined : (limit ?? usualLimit)
}

/** The time that `--older-than` means. */
export function updatedBefore({ olderThan }: SessionsOptions): string | undefined {
  if (olderThan === undefined) return undefined
  const ms = parseDuration(olderThan)
  const time = ms === undefined ? Number.NaN : Date.now() - ms
  if (!(time >= 0)) throw new UsageError(`--older-than takes a time such as 12h or 30d, not '${olderThan}'.`)
  return new Date(time).toISOString()
}

type ListedSession = Awaited<ReturnType<SessionsClient['list']>>['sessions'][number]

export const headColumns = [
  'SESSION',
  'AGENT',
  'USER',
  'RUNS',
  'LAST RUN',
  'TOKENS',
  'COST',
  'UPDATED',
  'TITLE',
] as const

type ListedHead = Pick<
  SessionOverview,
  | 'session_id'
  | 'entity_id'
  | 'user_id'
  | 'run_count'
  | 'status'
  | 'waiting'
  | 'usage'
  | 'updated_at'
  | 'name'
  | 'title'
> & { cost: Cost | null }

export function toHeadRow(head: ListedHead): string[] {
  const { waiting } = head
  const waits = waiting === 0 ? '' : ` (${waiting} ${waiting === 1 ? 'request' : 'requests'})`
  return [
    head.session_id,
    head.entity_id ?? '-',
    head.user_id ?? '-',
    String(head.run_count),
    (head.status ?? '-') + waits,
    head.usage === null ? '-' : String(head.usage.total_tokens),
    head.usage === null && !head.cost ? '-' : formatCost(head.cost),
    tableTime(head.updated_at),
    head.name ?? head.title ?? '',
  ]
}

export const tableHead = ['SESSION', 'AGENT', 'USER', 'RUNS', 'LAST RUN', 'UPDATED', 'NAME'] as const

export function toRow(session: ListedSession): string[] {
  return [
    session.session_id,
    session.agent_id ?? session.team_id ?? session.workflow_id ?? session.runs.at(-1)?.entity_id ?? '-',
    session.user_id ?? '-',
    String(session.run_count),
    session.runs.at(-1)?.status ?? '-',
    tableTime(session.updated_at),
    session.name ?? '',
  ]
}

import type { Page, PageRequest } from '../../../core/page.ts'
import type { SessionOverview } from '../../../core/session.ts'
import type { SessionListFilter } from '../../../core/store.ts'
import { forkedFrom, ownerOf, titleOfParts } from '../../rules/overview.ts'
import { sumByModel, sumOf, usageOf } from '../../rules/session-usage.ts'
import { turnsFor } from './handovers.ts'
import type { MemoryState, RunRow, SessionRow } from './rows.ts'
import { keysetOf, listed, pageOf, readerOf } from './sessions.ts'

export function pageOfOverviews(
  state: MemoryState,
  filter: SessionListFilter,
  page: PageRequest,
): Page<SessionOverview> {
  const found = pageOf(listed(state, filter), keysetOf, (row) => overviewOf(row, readerOf(filter)), page)
  return { ...found, items: found.items.filter((item) => item !== undefined) }
}

/** Undefined for a user who never had it. */
export function overviewOf(row: SessionRow, userId?: string): SessionOverview | undefined {
  const seen = turnsFor(row, userId)
  if (seen === undefined) return undefined
  const { turns, shown } = seen
  const isEarlier = userId !== undefined && row.user_id !== userId
  const last = shown.at(-1)?.record
  const usage = sumByModel(turns.flatMap(({ record }) => usageOf(record)))
  return {
    session_id: row.session_id,
    name: isEarlier ? null : row.name,
    title: titleFor(shown[0]),
    ...(last === undefined ? ownerOf(row) : { entity_id: last.entity_id, entity_kind: last.entity_kind }),
    user_id: row.user_id,
    run_count: turns.length,
    status: last?.status ?? null,
    waiting: last?.waiting.length ?? 0,
    usage: sumOf(usage),
    usage_by_model: usage,
    forked_from: isEarlier ? null : forkedFrom(row.metadata?.forked_from),
    created_at: row.created_at,
    updated_at: isEarlier ? (last?.completed_at ?? last?.created_at ?? row.created_at) : row.updated_at,
  }
}

function titleFor(first: RunRow | undefined): string | null {
  const input = first?.unchecked === undefined ? first?.record.messages[0] : undefined
  return input?.role === 'user' ? titleOfParts(input.parts) : null
}

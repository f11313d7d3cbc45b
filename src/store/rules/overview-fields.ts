import type { EntityKind, ModelUsage, RunStatus } from '../../core/run.ts'
import type { SessionOverview, SessionOwners } from '../../core/session.ts'
import { ownerOf } from './overview.ts'
import { sumOf } from './session-usage.ts'

/** The last turn as statements give it. */
export type TurnFields = [
  status: RunStatus,
  entityId: string,
  entityKind: EntityKind,
  waiting: number | null,
  completedAt: string | null,
  createdAt: string,
]

/** The sums of a model as statements give them. */
export type UsageFields = [
  model: string | null,
  input: number,
  output: number,
  total: number,
  cached: number | null,
  written: number | null,
  reasoning: number | null,
  largest: number | null,
  unreported: number | null,
]

export interface OverviewFields
  extends SessionOwners,
    Pick<SessionOverview, 'session_id' | 'run_count' | 'title' | 'usage_by_model' | 'created_at' | 'updated_at'> {
  last_turn: TurnFields | null
}

/** What present and earlier users see alike. */
export function overviewOf(fields: OverviewFields): SessionOverview {
  const { agent_id, team_id, workflow_id, user_id, last_turn } = fields
  const [status, entityId, entityKind, waiting] = last_turn ?? []
  return {
    session_id: fields.session_id,
    name: null,
    title: fields.title,
    ...(entityId === undefined
      ? ownerOf({ agent_id, team_id, workflow_id, user_id })
      : { entity_id: entityId, entity_kind: entityKind ?? null }),
    user_id,
    run_count: fields.run_count,
    status: status ?? null,
    waiting: waiting ?? 0,
    usage: sumOf(fields.usage_by_model),
    usage_by_model: fields.usage_by_model,
    forked_from: null,
    created_at: fields.created_at,
    updated_at: fields.updated_at,
  }
}

export function toUsage([
  model,
  input,
  output,
  total,
  cached,
  written,
  reasoning,
  largest,
  unreported,
]: UsageFields): ModelUsage {
  return {
    model,
    input_tokens: input,
    output_tokens: output,
    total_tokens: total,
    ...(cached !== null && { cached_input_tokens: cached }),
    ...(written !== null && { cache_write_tokens: written }),
    ...(reasoning !== null && { reasoning_tokens: reasoning }),
    ...(largest !== null && { largest_input_tokens: largest }),
    ...(unreported !== null && { unreported_calls: unreported }),
  }
}

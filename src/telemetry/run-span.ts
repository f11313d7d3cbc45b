import type { Usage } from '../core/run.ts'
import { usageAttributes } from './chat-span.ts'
import { type Attributes, attributesOf, type SpanDraft } from './draft.ts'
import { namedModel } from './providers.ts'
import type { EndedRun } from './run-spans.ts'

/** What the conventions call the work of an entity: teams and workflows group the work of others. */
function operationOf({ entity_kind }: Pick<EndedRun, 'entity_kind'>): string {
  return entity_kind === 'agent' ? 'invoke_agent' : 'invoke_workflow'
}

export function runSpanName(run: EndedRun): string {
  return `${operationOf(run)} ${run.entity_id}`
}

/** Reasons that are no text of a caller. */
const reasons: ReadonlySet<string> = new Set([
  'requested',
  'client_disconnected',
  'timeout',
  'shutdown',
  'superseded',
  'session_deleted',
  'parent_ended',
])

export function runAttributes(run: EndedRun, model: string | undefined, usage: Usage | null): Attributes {
  const { run_id, session_id, entity_id, entity_kind, status, cancellation_reason: reason, cache_hit } = run
  return {
    ...attributesOf({
      'gen_ai.operation.name': operationOf(run),
      'gen_ai.agent.name': entity_id,
      'gen_ai.agent.id': entity_id,
      'gen_ai.conversation.id': session_id,
      'gen_ai.request.model': model === undefined ? undefined : namedModel(model).model,
      'agentserve.run.id': run_id,
      'agentserve.run.status': status,
      'agentserve.entity.kind': entity_kind,
      'agentserve.run.cancellation_reason': reason !== null && reasons.has(reason) ? reason : undefined,
      'agentserve.run.cache_hit': cache_hit ? true : undefined,
    }),
    ...usageAttributes(usage),
  }
}

/** A run that a caller cancels has not failed. Messages of errors may repeat what was said. */
export function failureOf(
  { status, error, cancellation_reason }: EndedRun,
  withContents: boolean,
): SpanDraft['failure'] {
  if (status === 'failed') return { type: error?.code ?? '_OTHER', message: withContents ? error?.message : undefined }
  if (status === 'interrupted') return { type: 'interrupted', message: 'The process ended before the run.' }
  return status === 'cancelled' && cancellation_reason === 'timeout' ? { type: 'timeout' } : undefined
}

import { AppError } from '../core/error.ts'
import type { RunContext, Runnable } from '../core/runnable.ts'

const lineage = Symbol('agentserve.lineage')

interface Ancestor {
  entity: Runnable
  id: string
}

/** A context of its own for what runs inside this run, with some of it exchanged or added. */
export function deriveContext<T extends object>(context: RunContext, changes: T): RunContext & T {
  return {
    runId: context.runId,
    sessionId: context.sessionId,
    entityId: context.entityId,
    userId: context.userId,
    metadata: context.metadata,
    state: context.state,
    signal: context.signal,
    logger: context.logger,
    knowledge: context.knowledge,
    history: (runs?: number) => context.history(runs),
    summary: () => context.summary(),
    entity: (id: string) => context.entity(id),
    [lineage]: ancestorsOf(context),
    ...changes,
  }
}

/**
 * The context for a member that runs inside `entity`. Throws `run_failed` when `entity` already runs further out, so that
 * teams that contain each other end with an error and not with the stack.
 */
export function descend(context: RunContext, entity: Runnable, changes: Partial<RunContext>): RunContext {
  const ancestors = ancestorsOf(context)
  if (ancestors.some((ancestor) => ancestor.entity === entity)) {
    const path = [...ancestors.map(({ id }) => id), context.entityId].join(' → ')
    throw new AppError('run_failed', `The team contains itself: ${path}. Take one of these out of \`members\`.`)
  }
  return deriveContext(context, { ...changes, [lineage]: [...ancestors, { entity, id: context.entityId }] })
}

function ancestorsOf(context: RunContext): readonly Ancestor[] {
  return (context as { [lineage]?: readonly Ancestor[] })[lineage] ?? []
}

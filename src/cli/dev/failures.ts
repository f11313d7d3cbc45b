import type { RunFailures } from '../runs/line.ts'
import { messageWithCause, showPlace } from '../terminal/logger.ts'
import { terminalLine } from '../terminal/text.ts'

export interface Failures {
  /** Keeps what the log says of a failed run for the line of the run or of the one around it; false: it is for the log. */
  take(fields: object, message: string | undefined): boolean
  /** What is kept about a run that has ended and the runs inside it, once; undefined when nothing is. */
  of(runId: string): RunFailures | undefined
}

interface Kept {
  error: unknown
  entityId: string
  parentId: string | undefined
}

/** Until their lines are printed. */
const mostKept = 1_000
/** Of the runs inside one. */
const mostShown = 3
/** The rest of the record's message, for those who don't see the log. */
const elsewhere = / The server's log has the details\.$/

/** So that a failure is said once: the log says it before the run's own line. */
export function createFailures(): Failures {
  const kept = new Map<string, Kept>()
  const childrenOf = (runId: string): string[] =>
    [...kept].flatMap(([id, { parentId }]) => (parentId === runId ? [id, ...childrenOf(id)] : []))
  return {
    take(fields, message) {
      const about = fields as { error?: unknown; run_id?: string; entity_id?: string; parent_run_id?: string }
      const { error, run_id: runId, entity_id: entityId = '', parent_run_id: parentId } = about
      if (message !== 'run failed' || runId === undefined || kept.size >= mostKept) return false
      kept.set(runId, { error, entityId, parentId })
      return true
    },
    of(runId) {
      const own = kept.get(runId)
      const inside = childrenOf(runId).flatMap((id) => kept.get(id) ?? [])
      for (const id of [runId, ...childrenOf(runId)]) kept.delete(id)
      if (own === undefined && inside.length === 0) return undefined
      return {
        own: own && describe(own.error),
        inside: inside
          .slice(0, mostShown)
          .map(({ error, entityId }) => `${terminalLine(entityId)}: ${describe(error)}`),
      }
    },
  }
}

function describe(error: unknown): string {
  const message = terminalLine(error instanceof Error ? messageWithCause(error) : String(error)).replace(elsewhere, '')
  const place = showPlace(error)
  return place === undefined ? message : `${message}\n${place}`
}

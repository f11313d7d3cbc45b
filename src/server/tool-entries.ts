import type { ResolvedConfig } from '../config/types.ts'
import { type ToolEntry, toolEntriesOf } from '../runnables/tools/check.ts'

export interface ServedToolEntry extends ToolEntry {
  /** The agent or team that has it. */
  entityId: string
}

/** The entries of `tools` whose tools come from another program. Listing them starts that program. */
export function servedToolEntries({ entities }: Pick<ResolvedConfig, 'entities'>): ServedToolEntry[] {
  return [...entities].flatMap(([entityId, entity]) => toolEntriesOf(entity).map((one) => ({ ...one, entityId })))
}

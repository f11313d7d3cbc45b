import type { ResolvedConfig } from '../../config/types.ts'
import { type ToolEntry, toolEntriesOf } from '../../runnables/tools/check.ts'

export interface ServedToolEntry extends ToolEntry {
  entityId: string
}

/** The entries of `tools` that are MCP servers. Listing their tools starts or calls the server. */
export function servedToolEntries({ entities }: Pick<ResolvedConfig, 'entities'>): ServedToolEntry[] {
  return [...entities].flatMap(([entityId, entity]) => toolEntriesOf(entity).map((one) => ({ ...one, entityId })))
}

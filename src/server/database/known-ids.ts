import { join } from 'node:path'
import { type KnownKind, readKnownIds } from '../../store/known-ids.ts'

/** The newest ids of a data folder, without opening its stores. Empty without a folder, or where they can't be read. */
export function knownIds(dataFolder: string, kind: KnownKind): string[] {
  try {
    return readKnownIds(join(dataFolder, kind === 'documents' ? 'knowledge/knowledge.db' : 'agentserve.db'), kind)
  } catch {
    // Damaged, of another version, or being moved: Tab offers nothing.
    return []
  }
}

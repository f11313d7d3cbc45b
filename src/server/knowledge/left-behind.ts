import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ResolvedConfig } from '../../config/types.ts'
import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Logger } from '../../core/logger.ts'

/** Says that documents are in files that this configuration does not use, while it has none in its database. */
export async function tellOfLocalKnowledge(
  knowledge: Knowledge,
  { dataFolder }: Pick<ResolvedConfig, 'dataFolder'>,
  logger: Logger,
): Promise<void> {
  const path = join(dataFolder, 'knowledge', 'knowledge.db')
  if (!existsSync(path)) return
  const { items } = await knowledge.listDocuments({}, { limit: 1 })
  if (items.length > 0) return
  logger.warn(
    { path },
    'the knowledge base in Postgres is empty, and a local one is not used any more: copy it by `agentserve storage import-knowledge`, or use server.sessionStorage in place of server.storage to keep it',
  )
}

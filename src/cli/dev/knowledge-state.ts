import type { ResolvedConfig } from '../../config/types.ts'
import type { OpenServer } from '../../server.ts'
import { hint } from '../terminal/called-as.ts'
import { count } from '../terminal/count.ts'

/** What the knowledge base holds after the config's files are ingested; undefined when there is none. */
export async function knowledgeState(
  server: OpenServer,
  { knowledge: { remote } }: ResolvedConfig,
): Promise<string | undefined> {
  const { knowledge } = server.services
  if (knowledge === undefined) return undefined
  await server.ingested()
  // An empty one need not open the vector database, which takes time and memory.
  if ((await knowledge.listDocuments({}, { limit: 1 })).items.length === 0) {
    if (remote.length === 0) return `empty; add documents with ${hint('ingest')}`
    return `empty; ${count(remote.length, 'source')} of the config to fetch: see ${hint('knowledge status')}`
  }
  const { documents, chunks, pending, embedding_model } = await knowledge.status()
  const waiting = pending === 0 ? '' : `, ${count(pending, 'document')} without vectors yet`
  return `${count(documents, 'document')}, ${count(chunks, 'chunk')}, ${embedding_model.provider} embeddings${waiting}`
}

import { join } from 'node:path'
import { queryWordsOf } from '../src/core/terms.ts'
import { lexicalEmbedder } from '../src/knowledge/embedders/lexical.ts'
import { lanceVectors } from '../src/knowledge/vectors/lancedb.ts'
import { createDocumentStore } from '../src/store/documents.ts'
import { percentile } from './percentile.ts'

/** What a hybrid search asks of SQLite and of LanceDB, side by side and with nothing round it. */
export async function measureBare(folder: string, queries: () => string[]): Promise<{ p50: number; p99: number }> {
  const documents = createDocumentStore({ path: join(folder, 'knowledge.db') })
  await documents.open()
  const vectors = lanceVectors({ folder: join(folder, 'vectors') })
  const table = await vectors.table('k1_v1', 1024)
  const embedder = lexicalEmbedder()
  const prepared = await Promise.all(
    queries().map(async (query) => ({
      words: queryWordsOf(query),
      vector: await embedder.embedQuery(query, (words, trigrams) => documents.frequencies(1, words, trigrams)),
    })),
  )
  // The table looks for its index when it has been quiet for a while.
  await new Promise((resolve) => setTimeout(resolve, 8_000))
  const times: number[] = []
  for (const [at, { words, vector }] of [...prepared.slice(0, 20), ...prepared].entries()) {
    const startedMs = performance.now()
    await Promise.all([documents.keyword(1, words, {}, 50), table.search(vector, 100)])
    if (at >= 20) times.push(performance.now() - startedMs)
  }
  await vectors.close()
  await documents.close()
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}

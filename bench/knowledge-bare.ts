import { join } from 'node:path'
import { queryWordsOf } from '../src/core/text/query-words.ts'
import { lexicalEmbedder } from '../src/knowledge/embedders/lexical.ts'
import { shippedTable, staticEmbedder } from '../src/knowledge/embedders/static.ts'
import { lanceVectors } from '../src/knowledge/vectors/lancedb.ts'
import { createDocumentStore } from '../src/store/documents/store.ts'

/** What a hybrid search asks of SQLite and of LanceDB, side by side and with nothing round it. */
export async function openBare(folder: string) {
  const documents = createDocumentStore({ path: join(folder, 'knowledge.db') })
  await documents.open()
  const vectors = lanceVectors({ folder: join(folder, 'vectors') })
  const lists = [
    { table: await vectors.table('k1_v1', 128), embedder: staticEmbedder(await shippedTable()) },
    { table: await vectors.table('k1_v1_hashed_ngrams_1', 1024), embedder: lexicalEmbedder() },
  ]
  return {
    /** Gives the search, with all that is computed for it done. */
    async prepare(query: string): Promise<() => Promise<unknown>> {
      const words = queryWordsOf(query)
      const { chunks, words: texts } = await documents.frequencies(1, words, [])
      const score = words.map((word) => ({ words: [word], texts: texts.get(word) ?? 0, weight: 1 }))
      const asked = await Promise.all(
        lists.map(async ({ table, embedder }) => {
          const vector = await embedder.embedQuery(query, (terms, trigrams) =>
            documents.frequencies(1, terms, trigrams),
          )
          return () => table.search(vector, 100)
        }),
      )
      const asking = { find: words, score, chunks }
      return () => Promise.all([documents.keyword(1, asking, {}, 50), ...asked.map((search) => search())])
    },
    async close() {
      await vectors.close()
      await documents.close()
    },
  }
}

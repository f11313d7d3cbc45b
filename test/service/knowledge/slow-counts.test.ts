import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type DocumentStore, SearchGivenUp } from '../../../src/core/knowledge/document-store.ts'
import { createDocumentStore } from '../../../src/store/documents/store.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

let place: KnowledgeFolder
beforeEach(async () => {
  place = await knowledgeFolder()
})
afterEach(() => place.remove())

/** A database in which counting takes too long: everything, or only the trigrams that vectors are weighed by. */
const opened = async (isTooLong: (words: readonly string[], trigrams: readonly string[]) => boolean) => {
  const path = join(place.folder, 'knowledge', 'knowledge.db')
  const documents: DocumentStore = createDocumentStore({ path, onWordsForgotten: () => {} })
  const frequencies: DocumentStore['frequencies'] = async (collection, words, trigrams) => {
    if (isTooLong(words, trigrams)) throw new SearchGivenUp('Searching for words took the database longer than 2 s.')
    return documents.frequencies(collection, words, trigrams)
  }
  const knowledge = await place.open({ documents: { ...documents, frequencies } })
  await knowledge.ingest({ source: 'anchor.md', content: 'The anchor holds the boat.' })
  await knowledge.ingest({ source: 'bread.md', content: 'Bread needs flour and water.' })
  return knowledge
}

it('keeps the words that a hybrid search has found when counts for the vector of the query take too long', async () => {
  const knowledge = await opened((_, trigrams) => trigrams.length > 0)
  const { results, skipped } = await knowledge.search({ query: 'anchor boat', explain: true })
  expect(skipped).toBeUndefined()
  expect(results[0]).toMatchObject({ source: 'anchor.md', explain: { keyword_rank: 1, vector_rank: 1 } })
})

it('finds by the vectors, with all words alike, when counts take a search by vectors too long', async () => {
  const knowledge = await opened(() => true)
  const { results, skipped } = await knowledge.search({ query: 'anchor boat', mode: 'vector' })
  expect(results[0]?.source).toBe('anchor.md')
  expect(skipped).toBeUndefined()
})

it('finds by the vectors, and says so, when counts take all of a hybrid search too long', async () => {
  const knowledge = await opened(() => true)
  const { results, skipped } = await knowledge.search({ query: 'anchor boat' })
  expect(results[0]?.source).toBe('anchor.md')
  expect(skipped).toEqual([{ list: 'keyword', reason: expect.stringContaining('longer than 2 s') }])
})

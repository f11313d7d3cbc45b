import assert from 'node:assert/strict'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Filters } from '../../../src/core/knowledge/filter.ts'
import { type ChunkerType, searchModes } from '../../../src/core/knowledge/knowledge.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { someDocuments, someFilters } from '../../support/knowledge/filter-comparison.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { type Filterable, matches } from '../../support/knowledge/plain-filter.ts'

const sorted = (texts: Iterable<string>) => [...texts].sort()

describe.each(['lancedb', 'memory'] as const)('a search with filters, vectors in %s', (type) => {
  let place: KnowledgeFolder
  let knowledge: OpenableKnowledge
  const documents: Filterable[] = []
  beforeAll(async () => {
    place = await knowledgeFolder()
    // Of learned vectors even the text without the word is a little alike.
    knowledge = await place.open({ vectorDb: { type }, embedding: { provider: 'lexical' } })
    // A search gives 100 results at most.
    for (const [at, { source, chunker_type, metadata }] of someDocuments().slice(0, 90).entries()) {
      const chunker = chunker_type as ChunkerType
      const content = `Barnacle number ${at}.`
      const { document_id } = await knowledge.ingest({ content, source, metadata, chunker_type: chunker })
      documents.push({ source: source.replaceAll('\0', '\ufffd'), chunker_type, document_id, metadata })
    }
    await knowledge.ingest({ content: 'Something else.', source: 'other', metadata: { color: 'red' } })
  })
  afterAll(() => place.remove())

  const found = async (filters: Filters, mode: (typeof searchModes)[number]) =>
    sorted((await knowledge.search({ query: 'barnacle', limit: 100, mode, filters })).results.map((hit) => hit.source))

  it('finds the same documents by words, by vectors and by both: those that plain JavaScript finds', async () => {
    let matched = 0
    const compare = fc.asyncProperty(someFilters, async (filters) => {
      const expected = sorted(documents.filter((one) => matches(one, filters)).map(({ source }) => source))
      for (const mode of searchModes) assert.deepEqual(await found(filters as Filters, mode), expected, mode)
      matched += expected.length
    })
    await fc.assert(compare, { numRuns: 150 })
    expect(matched).toBeGreaterThan(150)
  })

  it('finds all of them without filters, and none where the filters match none', async () => {
    for (const mode of searchModes) {
      expect(await found({}, mode)).toHaveLength(documents.length)
      expect(await found({ not: {} }, mode)).toEqual([])
      expect(await found({ or: [{ color: [] }, { source: { prefix: 'nowhere' } }] }, mode)).toEqual([])
    }
  })
})

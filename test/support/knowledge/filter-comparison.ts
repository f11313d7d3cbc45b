import assert from 'node:assert/strict'
import fc from 'fast-check'
import { chunkRows } from '../../../src/core/knowledge/chunk.ts'
import type { Collection, DocumentStore, NewChunks, NewGeneration } from '../../../src/core/knowledge/document-store.ts'
import { type Filterable, matchesFilters } from '../../../src/core/knowledge/filter.ts'
import type { Filters } from '../../../src/core/knowledge/knowledge.ts'

export const embedding = { provider: 'lexical', model: 'm', dimensions: 4 }

/** One chunk of a document, as `addChunks` takes it. */
export function chunksOf(place: Reservation, index: number, content: string): NewChunks {
  const chunk = {
    id: `chk_${place.firstChunk + index}`,
    index,
    content,
    headingPath: [],
    startOffset: 0,
    endOffset: content.length,
    lineStart: 1,
    lineEnd: 1,
    words: content,
    headingWords: '',
  }
  return { ...place, rows: chunkRows([chunk]), newWords: content.split(' ') }
}

export interface Reservation {
  generation: number
  firstChunk: number
}

export async function reserve(store: DocumentStore, chunks: number): Promise<Reservation> {
  const [place = { generation: 0, firstChunk: 0 }] = await store.reserve([chunks])
  return place
}

export function generationOf(generation: number, fields: Partial<NewGeneration> = {}): NewGeneration {
  return {
    document_id: `doc_${generation}`,
    generation,
    source: `source-${generation}`,
    name: null,
    media_type: null,
    metadata: {},
    reader_metadata: {},
    content_hash: 'h',
    chunk_count: 1,
    chunk_size: 1000,
    chunk_overlap: 100,
    chunker_type: 'paragraph',
    updated_at: '2031-01-01T00:00:00.000Z',
    ...fields,
  }
}

const texts = [
  'red',
  'blue',
  '1',
  '',
  "' OR 1=1 --",
  'é',
  '\ud83d\ude00',
  'true',
  'null',
  '[1]',
  '{"a":1}',
  'a\0b',
  'a',
]
const scalar = fc.oneof(
  fc.constantFrom(...texts),
  fc.constantFrom(0, -0, 1, 1.0, 1.5, -7, 2 ** 53, 2 ** 63, 1e300, 1e-7, 0.1, 2 ** 70),
  fc.boolean(),
)
const keys = fc.constantFrom('color', 'size', 'a_b', '_x', 'type', 'value', 'key', 'metadata', 'toString')
const held = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(fc.oneof(scalar, fc.constant(null)), { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.dictionary(keys, scalar, { maxKeys: 2 }) },
  { weight: 1, arbitrary: fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }) },
)

/** Documents with metadata of every kind. */
export async function fillForFilters(store: DocumentStore, collection: Collection): Promise<Map<number, Filterable>> {
  const documents = new Map<number, Filterable>()
  const made = fc.sample(fc.dictionary(keys, held, { maxKeys: 5 }), { numRuns: 80, seed: 7 })
  for (const [at, metadata] of made.entries()) {
    const place = await reserve(store, 1)
    const document = generationOf(place.generation, {
      source: at % 3 === 0 ? `it's ${at}` : `source-${at}`,
      chunker_type: at % 2 === 0 ? 'markdown' : 'code',
      metadata: JSON.parse(JSON.stringify(metadata)),
    })
    await store.publish(collection.key, [{ ...chunksOf(place, 0, 'word'), document }])
    documents.set(place.generation, document)
  }
  return documents
}

/** Random filters, in SQL and by the reference evaluator; gives how many documents they matched, throws when they differ. */
export async function compareFilters(
  store: DocumentStore,
  collection: Collection,
  documents: ReadonlyMap<number, Filterable>,
  count: number,
): Promise<number> {
  const wanted = fc.oneof(scalar, fc.array(scalar, { maxLength: 4 }))
  const filters = fc.oneof(
    fc.dictionary(keys, wanted, { maxKeys: 3 }),
    fc.record({ chunker_type: fc.constantFrom('markdown', 'code', 'x', 1, ['code', true]) }),
    fc.record(
      { source: fc.oneof(scalar, fc.constantFrom("it's 0", 'source-1', ['source-2', "it's 3"])), color: wanted },
      { requiredKeys: ['source'] },
    ),
  )
  let matched = 0
  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      const expected = [...documents]
        .filter(([, document]) => matchesFilters(document, filter as Filters))
        .map(([key]) => key)
      const found = await store.matching(collection.key, filter as Filters)
      assert.deepEqual(
        found.sort((one, other) => one - other),
        expected,
      )
      matched += expected.length
    }),
    { numRuns: count },
  )
  return matched
}

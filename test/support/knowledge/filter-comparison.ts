import assert from 'node:assert/strict'
import fc from 'fast-check'

import type { Collection, DocumentStore, NewChunks, NewGeneration } from '../../../src/core/knowledge/document-store.ts'
import { type Filters, filterProblem } from '../../../src/core/knowledge/filter.ts'
import { rowsOf } from './chunk-rows.ts'
import { type Filterable, matches } from './plain-filter.ts'

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
  return { ...place, rows: rowsOf([chunk]), newWords: content.split(' ') }
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
const days = ['2026-01-30', '2026-01-31', '2026-02-01', '2024-02-29', '0001-01-01', '9999-12-31']
const moments = [
  ...days,
  '2026-01-31T00:00Z',
  '2026-01-31T00:00:00.000+00:00',
  '2026-01-31T10:00:00',
  '2026-01-31T10:00:00.0005Z',
  '2026-01-31T10:00:59.9999999Z',
  '2026-01-30T23:30:00-02:30',
  '2026-02-01T01:00+01:00',
  '9999-12-31T23:59:59-01:00',
  '2026-01-31T23:59:59.123456',
]
/** SQLite or JavaScript takes some of these for dates; no filter does. */
const noDates = [
  'now',
  '2461041.5',
  '10:00',
  '2026-1-31',
  '2026-02-30',
  '2026-13-01',
  '2026-01-31 10:00',
  '2026-01-31T24:00',
  '2026-01-31T10:00z',
  '2026-01-31T10:00+15:00',
  '2026-01-31T10:00:60',
  '2026-01-31TT10:00',
  '2026-01-31T10',
  '2026-01-31T',
  '2026-01-31Z',
  '2026-01-3110:00',
  '2026-01-31\0',
  '2026-01-31\0T10:00',
  '2026-01-31T10:00:00.',
  ' 2026-01-31',
  '2026-01-31T10:00 ',
  '02026-01-31',
]
const places = ['docs', 'docs/a', 'docs/a/b.md', 'docs/ab', 'docs/a\0/b', 'docs//a', '/docs', '/', 'DOCS/a', 'd', 'é/a']
const prefixes = [...places, 'docs/', 'docs/a//', 'docs/a/b', 'é', "' OR 1=1 --", '%', '*']
const held = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 4, arbitrary: fc.constantFrom(...moments, ...noDates, ...places) },
  { weight: 2, arbitrary: fc.array(fc.oneof(scalar, fc.constantFrom(...moments, ...places)), { maxLength: 3 }) },
  { weight: 2, arbitrary: fc.array(fc.oneof(scalar, fc.constant(null)), { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.dictionary(keys, scalar, { maxKeys: 2 }) },
  { weight: 1, arbitrary: fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }) },
)

const documentCount = 120
/** Random numbers and times to the microsecond, too. */
const bound = fc.oneof(
  fc.constantFrom(...moments, 0, -0, 1, 1.5, -7, 2 ** 53, 0.1, 1e300),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc
    .tuple(fc.date({ min: new Date(0), max: new Date('2040-01-01'), noInvalidDate: true }), fc.nat(999))
    .map(([date, more]) => date.toISOString().replace('Z', `${String(more).padStart(3, '0')}+02:00`)),
)

/** Metadata and sources of every kind. */
export function someDocuments(): Pick<Filterable, 'source' | 'chunker_type' | 'metadata'>[] {
  const made = fc.sample(fc.dictionary(keys, held, { maxKeys: 5 }), { numRuns: documentCount, seed: 7 })
  const plain = [...texts, ...moments, ...noDates, ...places, 0, 1, 1.5, -7, 2 ** 53, 2 ** 63, 0.1, true, false, null]
  return [...made, ...plain.map((color) => ({ color }))].map((metadata, at) => ({
    source: at % 3 === 0 ? `it's ${at}` : at % 3 === 1 ? `source-${at}` : `${places[at % places.length]}/${at}`,
    chunker_type: at % 2 === 0 ? 'markdown' : 'code',
    metadata: JSON.parse(JSON.stringify(metadata)),
  }))
}

export async function fillForFilters(store: DocumentStore, collection: Collection): Promise<Map<number, Filterable>> {
  const documents = new Map<number, Filterable>()
  for (const fields of someDocuments()) {
    const place = await reserve(store, 1)
    const document = generationOf(place.generation, fields as Partial<NewGeneration>)
    await store.publish(collection.key, [{ ...chunksOf(place, 0, 'word'), document }])
    documents.set(place.generation, document)
  }
  return documents
}

const listed = fc.oneof(scalar, fc.constantFrom(...moments, ...places))
const values = fc.array(listed, { maxLength: 4 })
const operands = {
  eq: listed,
  in: values,
  gt: bound,
  gte: bound,
  lt: bound,
  lte: bound,
  prefix: fc.constantFrom(...prefixes),
  ne: listed,
  not_in: values,
  exists: fc.boolean(),
}
const operators = fc
  .subarray(Object.keys(operands) as (keyof typeof operands)[], { minLength: 1, maxLength: 3 })
  .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, operands[name] as fc.Arbitrary<unknown>]))))
const wanted = fc.oneof(scalar, values, operators)
const fields = fc.oneof(
  { weight: 3, arbitrary: fc.dictionary(keys, wanted, { maxKeys: 3 }) },
  { weight: 1, arbitrary: fc.record({ chunker_type: fc.constantFrom('markdown', 'code', 'x', 1, ['code', true]) }) },
  {
    weight: 2,
    arbitrary: fc.record(
      { source: fc.oneof(wanted, fc.constantFrom("it's 0", 'source-1', ['source-4', "it's 3"])), color: wanted },
      { requiredKeys: ['source'] },
    ),
  },
)

/** Valid filters, of every operator and nested up to three deep. */
export const someFilters = fc
  .letrec<{ filters: object }>((tie) => {
    const group = fc.array(tie('filters'), { minLength: 1, maxLength: 3 })
    const nested = fc.oneof(
      fc.record({ and: group }),
      fc.record({ or: group }),
      fc.record({ not: tie('filters') }),
      fc.record({ or: group, color: wanted }),
    )
    return { filters: fc.oneof({ maxDepth: 3, withCrossShrink: true }, fields, nested) }
  })
  .filters.filter((filters) => filterProblem(filters) === undefined)

/** Random filters, in SQL and in plain JavaScript; gives how many documents they matched, throws when they differ. */
export async function compareFilters(
  store: DocumentStore,
  collection: Collection,
  documents: ReadonlyMap<number, Filterable>,
  count: number,
): Promise<number> {
  let matched = 0
  await fc.assert(
    fc.asyncProperty(someFilters, async (filters) => {
      const expected = [...documents].filter(([, document]) => matches(document, filters)).map(([key]) => key)
      const found = await store.matching(collection.key, filters as Filters)
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

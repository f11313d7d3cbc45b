import { describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/error.ts'
import type { IngestInput, SearchQuery } from '../../../src/core/knowledge/knowledge.ts'
import { parseIngest, parseSearch } from '../../../src/service/knowledge/input.ts'
import { toJsonSchemas } from '../../../src/wire/document/json-schema.ts'
import { ContentRequest, ManyRequest } from '../../../src/wire/knowledge.ts'
import { parseBody } from '../../../src/wire/parse.ts'
import { SearchRequest } from '../../../src/wire/search.ts'

function complaint(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (isAppError(error) && error.code === 'invalid_request') return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

const mustBeValue = 'must be a string, a number, a boolean, a list of these, or an object of operators'
const mustBeBound = 'must be a number, or an ISO date like 2026-01-31 or 2026-01-31T09:30:00Z'
const tooMuch = 'is too much: all filters together may have at most 64 values and filters inside'
const operatorNames = 'eq, in, gt, gte, lt, lte, prefix, ne, not_in, exists'
const nestedFilters = (depth: number): object => (depth === 0 ? { a: 1 } : { not: nestedFilters(depth - 1) })

describe('a wrong setting', () => {
  const documents: [Record<string, unknown>, string][] = [
    [{ source: 'x'.repeat(1_500) }, 'source must have at most 1024 characters.'],
    [{ source: ' ' }, 'source must not be empty.'],
    [{ name: 'x'.repeat(1_025) }, 'name must have at most 1024 characters.'],
    [{ name: 1 }, 'name must be a string.'],
    [{ metadata: [] }, 'metadata must be a JSON object.'],
    [{ metadata: { a: 'x'.repeat(100_000) } }, 'metadata must have at most 100000 characters of JSON.'],
    [{ chunker_type: 'magic' }, 'chunker_type must be one of character, sentence, paragraph, markdown, code.'],
    [{ chunk_size: 20_001 }, 'chunk_size must be an integer from 1 to 20000.'],
    [{ chunk_overlap: -1 }, 'chunk_overlap must be an integer from 0 to 19999.'],
    [{ chunk_size: 10, chunk_overlap: 10 }, 'chunk_overlap must be less than chunk_size.'],
    [
      { collection: '../up' },
      'collection must be 1 to 64 letters, digits, ., - and _, beginning with a letter or digit.',
    ],
    [
      { chunk_size: 0, chunk_overlap: 'a' },
      'chunk_size must be an integer from 1 to 20000; chunk_overlap must be an integer from 0 to 19999.',
    ],
  ]
  it.each(documents)('of a document is told alike over HTTP and in the library: $1', (given, words) => {
    expect(complaint(() => parseIngest(given as Omit<IngestInput, 'content'>, 'default', {}))).toEqual(words)
    expect(complaint(() => parseBody(ContentRequest, { content: 'x', ...given }))).toEqual(words)
  })

  const searches: [Record<string, unknown>, string][] = [
    [{ query: ' ' }, 'query must not be empty.'],
    [{ query: 'x'.repeat(10_001) }, 'query must have at most 10000 characters.'],
    [{ limit: 101 }, 'limit must be an integer from 1 to 100.'],
    [{ context: 6 }, 'context must be an integer from 0 to 5.'],
    [{ mode: 'best' }, 'mode must be one of hybrid, vector, keyword.'],
    [{ collection: '' }, 'collection must be 1 to 64 letters, digits, ., - and _, beginning with a letter or digit.'],
    [{ filters: 'a' }, 'filters must be an object of strings, numbers, booleans or lists of these.'],
    [{ filters: { a: null } }, `filters.a ${mustBeValue}.`],
    [{ filters: { a: [['b']] } }, `filters.a ${mustBeValue}.`],
    [{ filters: { a: { $ne: 1 } } }, "filters.a.$ne is not an operator (did you mean 'ne'?)."],
    [{ filters: { a: { gte: 1, gthan: 2 } } }, `filters.a.gthan is not an operator; expected one of ${operatorNames}.`],
    [{ filters: { a: {} } }, `filters.a must have an operator: ${operatorNames}.`],
    [{ filters: { a: { ne: [1] } } }, 'filters.a.ne must be a string, a number or a boolean.'],
    [{ filters: { a: { in: 1 } } }, 'filters.a.in must be a list of strings, numbers and booleans.'],
    [{ filters: { a: { not_in: [null] } } }, 'filters.a.not_in must be a list of strings, numbers and booleans.'],
    [{ filters: { a: { gt: '2026-02-30' } } }, `filters.a.gt ${mustBeBound}.`],
    [{ filters: { a: { lte: true } } }, `filters.a.lte ${mustBeBound}.`],
    [{ filters: { source: { prefix: '' } } }, 'filters.source.prefix must be a text that is not empty.'],
    [{ filters: { a: { exists: 1 } } }, 'filters.a.exists must be true or false.'],
    [{ filters: { and: [] } }, 'filters.and must be a list of filters, at least one.'],
    [{ filters: { or: { a: 1 } } }, 'filters.or must be a list of filters, at least one.'],
    [{ filters: { or: [{ a: 1 }, 'b'] } }, 'filters.or.1 must be an object of filters.'],
    [{ filters: { not: { and: [{ b: { gte: [] } }] } } }, `filters.not.and.0.b.gte ${mustBeBound}.`],
    [{ filters: nestedFilters(9) }, `filters${'.not'.repeat(9)} is too deep: filters may be nested 8 deep.`],
    [
      { filters: { 'a b': 1 } },
      'filters.a b must be a key of at most 64 letters, digits and _, beginning with a letter or _.',
    ],
    [{ filters: { a: Array(65).fill(1) } }, `filters.a ${tooMuch}.`],
    [{ filters: { or: Array(40).fill({ a: 1 }) } }, `filters.or.32 ${tooMuch}.`],
    [{ filters: { and: Array(65).fill({}) } }, `filters.and.64 ${tooMuch}.`],
  ]
  it.each(searches)('of a search is told alike over HTTP and in the library: $1', (given, words) => {
    expect(complaint(() => parseSearch({ query: 'q', ...given } as SearchQuery, 'default'))).toEqual(words)
    expect(complaint(() => parseBody(SearchRequest, { query: 'q', ...given }))).toEqual(words)
  })
})

describe('a text beyond its limit', () => {
  it('has the same limit in the OpenAPI document', () => {
    const { components } = toJsonSchemas([ContentRequest, ManyRequest, SearchRequest])
    expect(components).toMatchObject({
      ContentRequest: { properties: { name: { maxLength: 1024 }, source: { minLength: 1, maxLength: 1024 } } },
      ManyRequest: { properties: { documents: { items: { properties: { source: { maxLength: 1024 } } } } } },
      SearchRequest: { properties: { query: { maxLength: 10_000 }, collection: { pattern: expect.any(String) } } },
    })
  })

  const settings = [
    { source: 'x'.repeat(1_025) },
    { name: 'x'.repeat(1_025) },
    { metadata: { a: 'x'.repeat(100_000) } },
  ]
  it.each(settings)('fails its own document of many and not the whole request', (given) => {
    const item = { source: 's', content: 'x', ...given }
    expect(parseBody(ManyRequest, { documents: [item] }).documents).toEqual([item])
    expect(complaint(() => parseIngest(item, 'default', {}))).toMatch(/^\w+ must have at most/)
  })
})

describe('parseIngest', () => {
  it('holds an overlap against the configured size of a chunk', () => {
    const parse = () => parseIngest({ chunk_overlap: 50 }, 'default', { chunkSize: 40 })
    expect(complaint(parse)).toBe('chunk_overlap must be less than chunk_size.')
  })

  it('takes null for what is absent', () => {
    const nulls = { name: null, source: null, metadata: null } as unknown as Omit<IngestInput, 'content'>
    expect(parseIngest(nulls, 'default', {})).toMatchObject({ name: null, source: undefined, metadata: {} })
  })

  it('keeps texts well formed, without NUL', () => {
    expect(parseIngest({ source: 'a\0b\ud800' }, 'default', {}).source).toBe('a\ufffdb\ufffd')
  })
})

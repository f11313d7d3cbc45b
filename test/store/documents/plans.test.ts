import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DocumentStore } from '../../../src/core/knowledge/document-store.ts'
import { type KnowledgeDatabase, knowledgeDatabase } from '../../../src/store/documents/postgres/database.ts'
import { hashOfSource } from '../../../src/store/documents/postgres/lists.ts'
import { postgresDocuments } from '../../../src/store/documents/postgres/store.ts'
import { wordKey } from '../../../src/store/documents/postgres/word-counts.ts'
import { wordQuery } from '../../contract/document-store.ts'
import { chunksOf, embedding, generationOf, reserve } from '../../support/knowledge/filter-comparison.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { explaining, type PlanNode } from '../../support/postgres/plans.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'

const documents = 5_000
const chunksEach = 4
/** Those that grow with what is ingested. */
const large = new Set(['chunk', 'chunk_words', 'term', 'document'])

describePostgres('the plans of statements about documents', () => {
  let place: Place
  let database: KnowledgeDatabase
  let store: DocumentStore
  let collection: number
  let seen: PlanNode[] = []

  beforeAll(async () => {
    place = (await testPostgres()).newSchema()
    database = knowledgeDatabase({ url: place.url, schema: place.name })
    const look = (plan: PlanNode) => void seen.push(plan)
    store = postgresDocuments({
      ...database,
      read: explaining(database.read, look),
      search: explaining(database.search, look),
      work: (does, kind) => database.work((sql) => does(explaining(sql, look)), kind),
      owned: (does, kind) => database.owned((sql, owner) => does(explaining(sql, look), owner), kind),
    })
    await store.open()
    collection = (await store.ensureCollection('many', embedding)).key
    await seed()
  })
  afterAll(async () => {
    await store.close()
    await place.drop()
  })

  /** Each chunk has a word of all, one of twenty documents, and one of its own. The planner is told nothing of them yet. */
  async function seed(): Promise<void> {
    const keyOf = (word: string) => wordKey(collection, word)
    const shared = Array.from({ length: documents / 20 }, (_, at) => `shared${at}`)
    await database.work(async (sql) => {
      await sql.run(
        `INSERT INTO document (document_id, document_collection, generation, source, source_hash, metadata, filterable, reader_metadata,
           content_hash, chunk_count, word_count, chunk_size, chunk_overlap, chunker_type, created_at, updated_at)
         SELECT 'doc_' || n, $1::int, 1000000 + n, 's' || n, coalesce(hash, 'h' || n), '{}', '{}', '{}', 'h', ${chunksEach}, 12, 1, 0, 'c', '', ''
         FROM generate_series(1, ${documents}) AS n LEFT JOIN unnest($2::text[]) WITH ORDINALITY AS given (hash, at) ON at = n`,
        [collection, [hashOfSource('s1')]],
      )
      await sql.run(
        `INSERT INTO chunk SELECT 1000000 + n, 'chk_' || n, $1::int, 1000001 + n / ${chunksEach}, n % ${chunksEach}, repeat('x', 800)::bytea, '[]', 0, 1, 1, 1
         FROM generate_series(0, ${documents * chunksEach - 1}) AS n`,
        [collection],
      )
      await sql.run(
        `INSERT INTO chunk_words SELECT 1000000 + n, 1000001 + n / ${chunksEach}, 3,
           (SELECT array_agg(key ORDER BY key) FROM unnest(ARRAY[$1::bigint, ($2::bigint[])[1 + n % ${shared.length}], n]) AS key), '{2,2,2}'
         FROM generate_series(0, ${documents * chunksEach - 1}) AS n`,
        [keyOf('everywhere'), shared.map(keyOf)],
      )
      await sql.run(
        `INSERT INTO term SELECT $1::int, word, ARRAY[left(word, 3), right(word, 3)]
         FROM (SELECT 'word' || n AS word FROM generate_series(1, 20000) AS n UNION ALL SELECT unnest($2::text[])) AS words`,
        [collection, shared],
      )
    })
  }

  /** The indexes that the work uses, each once; throws when it reads all of a table that may be large. */
  async function indexesOf(work: () => Promise<unknown>): Promise<string[]> {
    seen = []
    await work()
    const nodes: PlanNode[] = []
    const walk = (node: PlanNode) => {
      nodes.push(node)
      for (const child of node.Plans ?? []) walk(child)
    }
    seen.forEach(walk)
    const whole = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && large.has(node['Relation Name'] ?? ''))
    expect(whole.map((node) => node['Relation Name'])).toEqual([])
    return [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))].sort()
  }

  const searches: [string, () => Promise<unknown>, string[]][] = [
    [
      'words and their scores',
      () => store.keyword(collection, wordQuery('shared7'), {}, 50),
      ['chunk_pkey', 'chunk_words_by_word', 'document_generation_key'],
    ],
    [
      'words of filtered documents',
      () => store.keyword(collection, wordQuery('shared7', 'shared8'), { source: 's7' }, 50),
      ['chunk_pkey', 'chunk_words_by_word', 'document_generation_key'],
    ],
    ['counts of words', () => store.frequencies(collection, ['shared9'], []), ['chunk_words_by_word']],
    ['counts of trigrams', () => store.frequencies(collection, [], ['wor']), ['term_by_trigram']],
    ['other forms of a word', () => store.inflections(collection, ['words']), ['term_pkey']],
    ['similar words', () => store.similarWords(collection, 'shared7x', 5), ['term_by_trigram']],
    ['places', () => store.places(collection, [1_000_001, 1_000_009]), ['chunk_pkey', 'document_generation_key']],
    ['passages', () => store.current(collection, [1_000_001]), ['chunk_pkey', 'document_generation_key']],
    ['what is still current', () => store.stillCurrent([1_000_001, 7]), ['document_generation_key']],
    ['neighbours', () => store.range(1_000_001, 0, 2), ['chunk_by_generation']],
    ['chunks of a document', () => store.chunksFrom(1_000_001, 0, 10, 10_000), ['chunk_by_generation']],
    ['chunks around one', () => store.chunksAround('chk_8', 1, 10_000), ['chunk_by_id']],
    ['a page of documents', () => store.listDocuments({ collection }, { limit: 20 }), []],
    ['a page of all documents', () => store.listDocuments({}, { limit: 20 }), ['document_pkey']],
    [
      'documents by source',
      () => store.findBySources(collection, ['s1']),
      ['document_document_collection_source_hash_key'],
    ],
    ['a document by its id', () => store.getDocument('doc_9'), ['document_document_id_key']],
  ]
  const changes: [string, () => Promise<unknown>, string[]][] = [
    [
      'a publication',
      async () => {
        const at = await reserve(store, 1)
        const document = generationOf(at.generation, { source: 's1' })
        const [published] = await store.publish(collection, [{ ...chunksOf(at, 0, 'shared7 newword'), document }])
        await store.collect(published?.replaced === undefined ? [] : [published.replaced])
      },
      ['chunk_by_generation', 'chunk_words_by_generation', 'term_pkey'],
    ],
    [
      'a deletion',
      async () => store.collect([(await store.deleteDocument('doc_2')).generation]),
      ['chunk_by_generation', 'document_document_id_key'],
    ],
  ]

  /** Until its first ANALYZE, the planner takes a collection for as telling as a trigram or an id. */
  const needsStatistics = new Set([
    'counts of trigrams',
    'similar words',
    'chunks around one',
    'a page of all documents',
  ])
  const atOnce = searches.filter(([name]) => !needsStatistics.has(name))

  it.each(atOnce)('use indexes, before the planner knows the tables: %s', async (_, work, indexes) => {
    expect(await indexesOf(work)).toEqual(expect.arrayContaining(indexes))
  })

  it.each([...searches, ...changes])('use indexes, when it knows them: %s', async (name, work, indexes) => {
    await database.work((sql) => sql.all('ANALYZE', [], 'fresh'))
    // Counts that are known are not asked for again.
    const asked = name === 'counts of words' ? () => store.frequencies(collection, ['shared10'], []) : work
    const again = name === 'counts of trigrams' ? () => store.frequencies(collection, [], ['ord']) : asked
    expect(await indexesOf(again)).toEqual(expect.arrayContaining(indexes))
  })

  it('find the chunks of words by the index, however many have them', async () => {
    const found = await store.keyword(collection, wordQuery('everywhere'), {}, 50)
    expect(found).toHaveLength(50)
    expect(await indexesOf(() => store.keyword(collection, wordQuery('everywhere', 'shared3'), {}, 50))).toContain(
      'chunk_words_by_word',
    )
  })
})

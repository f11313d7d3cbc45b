import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { findSources } from '../../../src/sources/find.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures', 'docs')
const failure = (code: string, path?: string) =>
  expect.objectContaining({ code, ...(path === undefined ? {} : { details: [expect.objectContaining({ path })] }) })

async function ingestFixtures(knowledge: OpenableKnowledge): Promise<void> {
  for (const source of await findSources(fixtures, ['.']))
    await knowledge.ingest({ content: await readFile(join(fixtures, source)), name: source })
}

describe('a knowledge base over real documents', () => {
  let place: KnowledgeFolder
  let knowledge: OpenableKnowledge
  beforeAll(async () => {
    place = await knowledgeFolder()
    knowledge = await place.open()
    await ingestFixtures(knowledge)
  })
  afterAll(() => place.remove())

  it.each([
    ['How far from the wall must the sensor hang?', 'getting-started.md', 'one metre of distance'],
    ['what does it mean that an alert was suppressed', 'alerts.md', 'suppressed: duplicate'],
    ['How long are telephone numbers kept, and where?', 'data-and-privacy.html', 'until they are removed'],
    ['ERR_OFFSET_RANGE', 'reference/errors.md', 'beyond 50 millimetres'],
    ['maxClokDriftSeconds', 'reference/', 'maxClockDriftSeconds'],
    ['When do stations update their firmware?', 'reference/station-file.md', 'first Tuesday'],
    ['calibrate a wooden jetty how often', 'calibration.md', 'every 3 months'],
  ])('finds the passage for "%s"', async (query, source, passage) => {
    const { results, mode } = await knowledge.search({ query, limit: 3 })
    expect(mode).toBe('hybrid')
    expect(results[0]?.source).toContain(source)
    expect(results[0]?.content).toContain(passage)
    expect(results.every((hit) => hit.score > 0 && hit.score <= 1)).toBe(true)
  })

  it.each(['vector', 'keyword'] as const)('finds a passage by %s alone', async (mode) => {
    const { results } = await knowledge.search({ query: 'quiet hours of watch alerts', mode, limit: 1 })
    expect(results[0]?.source).toBe('alerts.md')
    expect(results[0]?.metadata).toEqual({ heading_path: ['Alerts', 'Quiet hours'] })
  })

  it('cites lines and offsets of the text that was stored', async () => {
    const text = await readFile(join(fixtures, 'getting-started.md'), 'utf8')
    const { results } = await knowledge.search({ query: 'pairing code eight letters works only once', limit: 1 })
    const hit = results[0]
    if (!hit) throw new Error('nothing found')
    expect(text.slice(hit.start_offset, hit.end_offset)).toBe(hit.content)
    const lines = text.split('\n').slice((hit.line_start ?? 1) - 1, hit.line_end)
    expect(lines.join('\n')).toContain(hit.content.trim())
  })

  it('puts neighbours round a hit without repeating what overlaps', async () => {
    const content = Array.from({ length: 60 }, (_, at) => `Paragraph ${at} speaks of topic${at} only.`).join('\n\n')
    await knowledge.ingest({ content, source: 'long.txt', chunk_size: 120, chunk_overlap: 40, collection: 'long' })
    const { results } = await knowledge.search({ query: 'topic30', limit: 1, context: 2, collection: 'long' })
    const hit = results[0]
    expect(content.slice(hit?.start_offset, hit?.end_offset)).toBe(hit?.content)
    expect(hit?.content.length).toBeGreaterThan(250)
  })

  it('leaves navigation and scripts of a page out', async () => {
    const { results } = await knowledge.search({ query: 'Jobs at Tidewatch newsletter seals tracker', limit: 10 })
    const text = results.map((hit) => hit.content).join('\n')
    expect(text).not.toMatch(/Jobs at|newsletter|tracker|navy|Cookie/)
  })

  it.each([
    '"',
    'a" OR "b',
    '*',
    'NEAR(a b)',
    '-col:x',
    '{}',
    "'; DROP TABLE chunk; --",
    '\\',
    'AND OR NOT',
    '🙂',
    '(((',
    '\0',
  ])('takes %j for a question like any other', async (query) => {
    for (const mode of ['hybrid', 'keyword', 'vector'] as const) await knowledge.search({ query, mode })
    expect((await knowledge.status()).documents).toBe(6)
  })

  it('keeps what front matter and reader say as reader metadata', async () => {
    const { items } = await knowledge.listDocuments({ source: 'getting-started.md' }, { limit: 5 })
    expect(items[0]?.reader_metadata).toMatchObject({
      title: 'Getting started with Tidewatch',
      front_matter: { audience: 'operators', order: 1 },
      encoding: 'utf-8',
      reader: 'markdown',
      chunk_size: 1000,
      chunk_overlap: 100,
    })
  })

  it('has as many vectors as chunks', async () => {
    const status = await knowledge.status()
    expect(status).toMatchObject({ collection: 'default', documents: 6, pending: 0 })
    expect(status.vectors).toBe(status.chunks)
    expect(status.embedding_model).toEqual({ provider: 'static', model: 'docs-en-1', dimensions: 128 })
  })

  it('refuses questions that no search can answer', async () => {
    await expect(knowledge.search({ query: '  ' })).rejects.toEqual(failure('invalid_request', 'query'))
    await expect(knowledge.search({ query: 'a', limit: 0 })).rejects.toEqual(failure('invalid_request', 'limit'))
    await expect(knowledge.search({ query: 'a', limit: 101 })).rejects.toEqual(failure('invalid_request', 'limit'))
    await expect(knowledge.search({ query: 'a', context: 6 })).rejects.toEqual(failure('invalid_request', 'context'))
    await expect(knowledge.search({ query: 'a', mode: 'best' as 'vector' })).rejects.toEqual(
      failure('invalid_request', 'mode'),
    )
    await expect(knowledge.search({ query: 'a', filters: { 'a b': 1 } })).rejects.toEqual(
      failure('invalid_request', 'filters.a b'),
    )
    await expect(knowledge.search({ query: 'a', collection: 'none' })).rejects.toEqual(failure('collection_not_found'))
  })
})

describe('ingestion', () => {
  let place: KnowledgeFolder
  let knowledge: OpenableKnowledge
  beforeEach(async () => {
    place = await knowledgeFolder()
    knowledge = await place.open({ vectorDb: { type: 'memory' } })
  })
  afterEach(() => place.remove())

  it('records chunk settings on each chunk and in the reader metadata', async () => {
    const made = await knowledge.ingest({
      content: 'One sentence. Another sentence. '.repeat(20),
      name: 'a.txt',
      metadata: { team: 'harbour', tags: ['x', 'y'] },
      chunker_type: 'sentence',
      chunk_size: 80,
      chunk_overlap: 20,
    })
    expect(made).toMatchObject({
      chunker_type: 'sentence',
      chunk_size: 80,
      chunk_overlap: 20,
      replaced: false,
      unchanged: false,
    })
    expect(new Set(made.chunk_ids).size).toBe(made.chunk_count)
    const { results } = await knowledge.search({ query: 'another sentence', limit: 100 })
    expect(results.length).toBeGreaterThan(1)
    for (const hit of results)
      expect(hit).toMatchObject({
        chunk_size: 80,
        chunk_overlap: 20,
        chunker_type: 'sentence',
        metadata: { team: 'harbour', tags: ['x', 'y'] },
        source: 'a.txt',
      })
    expect((await knowledge.getDocument(made.document_id)).reader_metadata).toMatchObject({
      chunk_size: 80,
      chunk_overlap: 20,
    })
  })

  it('leaves the same content as it is, and replaces what changed under the same id', async () => {
    const first = await knowledge.ingest({ content: 'apples and pears', source: 's' })
    const again = await knowledge.ingest({ content: 'apples and pears', source: 's' })
    expect(again).toEqual({ ...first, unchanged: true })
    const other = await knowledge.ingest({ content: 'plums and cherries', source: 's' })
    expect(other).toMatchObject({ document_id: first.document_id, replaced: true, unchanged: false })
    expect((await knowledge.search({ query: 'apples', mode: 'keyword' })).results).toEqual([])
    expect((await knowledge.search({ query: 'plums' })).results).toHaveLength(1)
    const relabelled = await knowledge.ingest({ content: 'plums and cherries', source: 's', metadata: { year: 2031 } })
    expect(relabelled.replaced).toBe(true)
    expect(await knowledge.status()).toMatchObject({ documents: 1, chunks: 1, vectors: 1 })
  })

  it('gives many ingestions of one source at once one document', async () => {
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        knowledge.ingest({ content: `version ${at} `.repeat(50), source: 'same', chunk_size: 60 }),
      ),
    )
    expect(new Set(results.map((result) => result.document_id)).size).toBe(1)
    const status = await knowledge.status()
    expect(status.documents).toBe(1)
    expect(status.vectors).toBe(status.chunks)
  })

  it.each([
    ['empty text', { content: '' }, 'invalid_request', 'content'],
    ['blank text', { content: ' \n ' }, 'invalid_request', 'content'],
    ['a chunk size of 0', { content: 'x', chunk_size: 0 }, 'invalid_request', 'chunk_size'],
    ['a chunk size of 20001', { content: 'x', chunk_size: 20_001 }, 'invalid_request', 'chunk_size'],
    ['a broken chunk size', { content: 'x', chunk_size: 1.5 }, 'invalid_request', 'chunk_size'],
    [
      'an overlap as large as the chunk',
      { content: 'x', chunk_size: 10, chunk_overlap: 10 },
      'invalid_request',
      'chunk_overlap',
    ],
    ['a negative overlap', { content: 'x', chunk_overlap: -1 }, 'invalid_request', 'chunk_overlap'],
    ['an unknown chunker', { content: 'x', chunker_type: 'magic' as 'code' }, 'invalid_request', 'chunker_type'],
    ['metadata that is a list', { content: 'x', metadata: [] as never }, 'invalid_request', 'metadata'],
    ['a collection with a path', { content: 'x', collection: '../up' }, 'invalid_request', 'collection'],
    ['an empty source', { content: 'x', source: ' ' }, 'invalid_request', 'source'],
    ['a PDF', { content: Buffer.from('%PDF-1.7 …'), name: 'a.pdf' }, 'unreadable_document', 'content'],
    ['NUL characters', { content: 'a\0b' }, 'unreadable_document', 'content'],
    ['bytes of an image', { content: Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2]) }, 'unreadable_document', 'content'],
    ['an unknown media type', { content: 'x', media_type: 'video/mp4' }, 'unreadable_document', 'content'],
    ['a page without text', { content: '<nav>menu</nav>', name: 'a.html' }, 'unreadable_document', 'content'],
    ['a chunk bomb', { content: 'x'.repeat(60_000), chunk_size: 1 }, 'payload_too_large', 'chunk_size'],
    [
      'an overlap bomb',
      { content: 'word '.repeat(40_000), chunk_size: 20_000, chunk_overlap: 19_999 },
      'payload_too_large',
      'chunk_size',
    ],
  ])('refuses %s and stores nothing', async (_what, input, code, path) => {
    await expect(knowledge.ingest(input)).rejects.toEqual(failure(code, path))
    expect(await knowledge.status()).toMatchObject({ documents: 0, chunks: 0, vectors: 0 })
  })

  it.each([
    ['UTF-16 with its mark', Buffer.from('\ufeffGrüße aus Köln', 'utf16le'), 'utf-16le'],
    ['UTF-8 with a mark', Buffer.from('\ufeffGrüße aus Köln'), 'utf-8'],
    ['Latin-1', Buffer.from('Grüße aus Köln', 'latin1'), 'windows-1252'],
  ])('reads %s', async (_what, content, encoding) => {
    const { document_id } = await knowledge.ingest({ content, name: 'a.txt' })
    expect((await knowledge.getDocument(document_id)).reader_metadata).toMatchObject({ encoding })
    expect((await knowledge.search({ query: 'koln grusse' })).results[0]?.content).toBe('Grüße aus Köln')
  })

  it('stops when it is cancelled and keeps the earlier version whole', async () => {
    await knowledge.ingest({ content: 'the first version', source: 's' })
    const controller = new AbortController()
    controller.abort()
    await expect(
      knowledge.ingest({ content: 'word '.repeat(50_000), source: 's' }, controller.signal),
    ).rejects.toThrow()
    expect(await knowledge.status()).toMatchObject({ documents: 1, chunks: 1, vectors: 1 })
  })

  it('ends what is under way when it closes, and says so', async () => {
    const lance = await place.open()
    const outcomes = Array.from({ length: 12 }, (_, at) =>
      lance.ingest({ content: `${at} ${'word '.repeat(200_000)}`, source: `s${at}` }).catch((error: unknown) => error),
    )
    await lance.close()
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ code: 'unavailable' })
    await lance.open()
    const status = await lance.status()
    expect(status).toMatchObject({ documents: 0, chunks: 0, vectors: 0 })
    expect((await lance.ingest({ content: 'after', source: 's' })).replaced).toBe(false)
  })

  it('pages documents newest first, and deletes them with all that is theirs', async () => {
    for (let at = 0; at < 5; at++) await knowledge.ingest({ content: `document ${at} about kelp`, source: `s${at}` })
    const first = await knowledge.listDocuments({}, { limit: 2 })
    expect(first.items.map((item) => item.source)).toEqual(['s4', 's3'])
    const rest = await knowledge.listDocuments({}, { limit: 5, cursor: first.next ?? '' })
    expect(rest.items.map((item) => item.source)).toEqual(['s2', 's1', 's0'])
    expect(rest.next).toBeNull()
    await expect(knowledge.listDocuments({}, { limit: 2, cursor: 'x' })).rejects.toEqual(
      failure('invalid_request', 'cursor'),
    )
    const id = first.items[0]?.document_id ?? ''
    await knowledge.deleteDocument(id)
    await expect(knowledge.getDocument(id)).rejects.toEqual(failure('document_not_found'))
    await expect(knowledge.deleteDocument(id)).rejects.toEqual(failure('document_not_found'))
    expect((await knowledge.search({ query: 'kelp', limit: 20 })).results).toHaveLength(4)
    expect(await knowledge.status()).toMatchObject({ documents: 4, chunks: 4, vectors: 4 })
  })

  it('finds the few that a filter lets through among the many that are nearer', async () => {
    for (let at = 0; at < 120; at++)
      await knowledge.ingest({ content: `barnacle barnacle ${at}`, source: `near${at}`, metadata: { kind: 'near' } })
    await knowledge.ingest({
      content: 'one barnacle among many other words of the sea',
      source: 'far',
      metadata: { kind: 'far', depth: 3 },
    })
    for (const mode of ['hybrid', 'vector', 'keyword'] as const) {
      const { results } = await knowledge.search({
        query: 'barnacle',
        mode,
        limit: 5,
        filters: { kind: ['far', 'none'], depth: 3 },
      })
      expect(results.map((hit) => hit.source)).toEqual(['far'])
      expect((await knowledge.search({ query: 'barnacle', mode, filters: { depth: '3' } })).results).toEqual([])
    }
  })

  it('describes itself without a secret', async () => {
    const described = await knowledge.config()
    expect(described.available_chunkers.map((chunker) => chunker.name)).toContain(described.default_chunker)
    expect(described).toMatchObject({
      vector_db: { type: 'memory', collection: 'default' },
      embedding_model: { provider: 'static', dimensions: 128 },
      limits: { max_chunk_size: 20_000, max_search_limit: 100, max_context: 5, max_request_bytes: 10_485_760 },
    })
  })
})

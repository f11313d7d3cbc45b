import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError, notFound } from '../../../src/core/error.ts'
import type { DocumentRecord, IngestInput, Knowledge, SearchQuery } from '../../../src/core/knowledge/knowledge.ts'
import { framesOf, openTestServer, type TestServer } from '../server.ts'

const path = '/api/v1/knowledge'
const embedding = { provider: 'lexical', model: 'lexical', dimensions: 8 }
const status = { collection: 'default', documents: 1, chunks: 2, vectors: 2, embedding_model: embedding, pending: 0 }
const document: DocumentRecord = {
  document_id: 'doc_1',
  source: 'a.md',
  name: null,
  media_type: null,
  metadata: {},
  reader_metadata: { chunk_size: 10, chunk_overlap: 1 },
  content_hash: 'h',
  chunk_count: 2,
  chunk_size: 10,
  chunk_overlap: 1,
  chunker_type: 'character',
  collection: 'default',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
}

let ingested: IngestInput[]
let searched: SearchQuery[]
let server: TestServer

/** Remembers what it is asked, and replaces a source that it has. */
function recordingKnowledge(): Knowledge {
  return {
    async search(query) {
      searched.push(query)
      const trace = query.trace && { collection: 'default', words: [], candidates: [] }
      return { results: [], mode: query.mode ?? 'hybrid', ...(trace && { trace }) }
    },
    ingestFile: async () => {
      throw new Error('no route ingests files of its own machine')
    },
    ingestMany: async () => [],
    async ingest(input) {
      if (input.media_type === 'application/pdf') throw new AppError('unreadable_document', 'It is not a PDF.')
      const replaced = ingested.some(({ source }) => source !== undefined && source === input.source)
      ingested.push(input)
      const chunks = { chunker_type: 'character', chunk_size: input.chunk_size ?? 1000, chunk_overlap: 100 } as const
      return {
        document_id: 'doc_1',
        chunk_ids: [],
        chunk_count: 0,
        ...chunks,
        collection: 'default',
        replaced,
        unchanged: false,
      }
    },
    config: async () => ({
      available_chunkers: [],
      default_chunker: 'character',
      available_vector_dbs: ['memory'],
      vector_db: { type: 'memory', collection: 'default' },
      embedding_model: embedding,
      rerank: null,
      readers: [],
      features: { search: true, content: true, documents: true },
      limits: { max_chunk_size: 20000, max_search_limit: 100, max_context: 5, max_request_bytes: 1 },
      collection: 'default',
    }),
    listDocuments: async (filter) => ({ items: filter.source === 'none' ? [] : [document], next: null }),
    async getDocument(documentId) {
      if (documentId !== 'doc_1') throw notFound('document', documentId)
      return document
    },
    async getChunk(chunkId) {
      throw notFound('chunk', chunkId)
    },
    listChunks: async () => ({ items: [], next: null }),
    async deleteDocument(documentId) {
      if (documentId !== 'doc_1') throw notFound('document', documentId)
    },
    reindex: async () => status,
    status: async () => status,
    brought: { list: async () => new Set(), change: async () => {}, delete: async () => 0 },
    tellSources: () => {},
    check: async () => {},
  }
}

beforeEach(async () => {
  ingested = []
  searched = []
  server = await openTestServer({ knowledge: recordingKnowledge() })
})
afterEach(() => server.close())

async function send(form: FormData, headers: Record<string, string> = {}) {
  const request = new Request('http://localhost/', { method: 'POST', body: form })
  const type = request.headers.get('content-type') ?? ''
  const body = new Uint8Array(await request.arrayBuffer())
  return server.call('POST', `${path}/content`, body, { 'content-type': type, ...headers })
}

function formOf(fields: Record<string, string>, content: string | null = 'hello', name = 'a.md') {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  if (content !== null) form.append('file', new Blob([content], { type: 'text/markdown' }), name)
  return form
}

describe('POST /knowledge/content', () => {
  it('takes JSON; 201 for a new document, 200 for one that is replaced', async () => {
    const body = { content: 'hello', source: 's', metadata: { a: 1 }, chunk_size: 50, chunk_overlap: 5 }
    expect(await server.call('POST', `${path}/content`, body)).toMatchObject({ status: 201, body: { chunk_size: 50 } })
    expect(await server.call('POST', `${path}/content`, body)).toMatchObject({ status: 200, body: { replaced: true } })
    expect(ingested).toEqual([body, body])
  })

  it('takes a form with a file', async () => {
    const fields = { chunk_size: '50', chunk_overlap: '5', metadata: '{"a":1}', chunker_type: 'markdown', source: 's' }
    expect((await send(formOf(fields))).status).toBe(201)
    expect(ingested).toEqual([
      {
        chunk_size: 50,
        chunk_overlap: 5,
        metadata: { a: 1 },
        chunker_type: 'markdown',
        source: 's',
        name: 'a.md',
        content: Buffer.from('hello'),
        media_type: 'text/markdown',
      },
    ])
  })

  it('takes plain text with the rest in the query', async () => {
    const query = 'chunk_size=50&chunk_overlap=5&source=s&metadata=%7B%22a%22%3A1%7D'
    const answer = await server.call('POST', `${path}/content?${query}`, 'hello', {
      'content-type': 'Text/Plain; charset=utf-8',
    })
    expect(answer.status).toBe(201)
    expect(ingested).toMatchObject([
      { content: 'hello', chunk_size: 50, chunk_overlap: 5, source: 's', metadata: { a: 1 } },
    ])
  })

  it.each([
    [{ content: '' }, 'content'],
    [{ content: ' ' }, 'content'],
    [{}, 'content'],
    [{ content: 'x', chunk_size: 0 }, 'chunk_size'],
    [{ content: 'x', chunk_size: 20_001 }, 'chunk_size'],
    [{ content: 'x', chunk_size: '50' }, 'chunk_size'],
    [{ content: 'x', chunk_size: 50, chunk_overlap: 50 }, 'chunk_overlap'],
    [{ content: 'x', chunker_type: 'words' }, 'chunker_type'],
    [{ content: 'x', metadata: '{}' }, 'metadata'],
    [{ content: 'x', source: 'x'.repeat(1_500) }, 'source'],
    [{ content: 'x', collection: 'x'.repeat(65) }, 'collection'],
    [{ content: 'x', chunkSize: 5 }, 'chunkSize'],
  ])('refuses the JSON %j', async (body, field) => {
    const answer = await server.call('POST', `${path}/content`, body)
    expect([answer.status, answer.body.error.details[0].path]).toEqual([400, field])
    expect(ingested).toEqual([])
  })

  it.each([
    ['without a file', formOf({}, null), 'file'],
    ['with a file field that is text', formOf({ file: 'hello' }, null), 'file'],
    ['with an empty file', formOf({}, ''), 'file'],
    ['with metadata that is no JSON', formOf({ metadata: '{' }), 'metadata'],
    ['with metadata that is no object', formOf({ metadata: '[1]' }), 'metadata'],
    ['with metadata that pollutes', formOf({ metadata: '{"__proto__":{}}' }), 'metadata'],
    ['with a size that is no number', formOf({ chunk_size: 'big' }), 'chunk_size'],
    ['with camelCase', formOf({ chunkSize: '5' }), 'chunkSize'],
  ])('refuses a form %s', async (_, form, field) => {
    const answer = await send(form)
    expect([answer.status, answer.body.error.details[0].path]).toEqual([400, field])
    expect(ingested).toEqual([])
  })

  it.each([
    ['x', 'chunk_size=x', 'chunk_size'],
    ['x', 'metadata=nonsense', 'metadata'],
    [' ', '', 'content'],
    ['', '', 'content'],
  ])('refuses the text %j with the query %j', async (text, query, field) => {
    const answer = await server.call('POST', `${path}/content?${query}`, text, { 'content-type': 'text/plain' })
    expect([answer.status, answer.body.error.details[0].path]).toEqual([400, field])
  })

  it('says what is missing when there is a type and no body', async () => {
    for (const [type, field] of [
      ['application/json', 'content'],
      ['multipart/form-data; boundary=x', 'file'],
      ['text/plain', 'content'],
    ] as const) {
      const { status, body } = await server.call('POST', `${path}/content`, undefined, { 'content-type': type })
      expect([status, body.error.details[0].path]).toEqual([400, field])
    }
  })

  it('refuses other content types and none', async () => {
    for (const type of ['application/xml', 'text/html', 'application/octet-stream']) {
      expect((await server.call('POST', `${path}/content`, 'x', { 'content-type': type })).status).toBe(415)
    }
    expect((await server.call('POST', `${path}/content`, 'x')).status).toBe(415)
    expect((await server.call('POST', `${path}/content`)).status).toBe(415)
    const vendor = { 'content-type': 'application/vnd.x+json' }
    expect((await server.call('POST', `${path}/content`, '{"content":"x"}', vendor)).status).toBe(201)
  })

  it('says that a file can not be read', async () => {
    const form = new FormData()
    form.append('file', new Blob(['x'], { type: 'application/pdf' }), 'a.pdf')
    const { status, body } = await send(form)
    expect([status, body.error.code]).toEqual([422, 'unreadable_document'])
  })

  it('ingests once for one Idempotency-Key, whatever boundary the repeated form has', async () => {
    const headers = { 'idempotency-key': 'k' }
    const first = await send(formOf({ source: 's' }), headers)
    expect(await send(formOf({ source: 's' }), headers)).toMatchObject({ status: 201, body: first.body })
    expect(ingested).toHaveLength(1)
    expect((await send(formOf({ source: 's' }, 'other'), headers)).status).toBe(422)
    expect((await send(formOf({ source: 't' }), headers)).status).toBe(422)
  })
})

describe('the other knowledge routes', () => {
  it('search', async () => {
    const query = { query: 'q', limit: 3, filters: { a: ['x', 1] }, mode: 'keyword', context: 2 }
    const { body } = await server.call('POST', `${path}/search`, query)
    expect(body).toEqual({ results: [], count: 0, mode: 'keyword' })
    const trace = { collection: 'default', words: [], candidates: [] }
    for (const [path_, given] of [
      [`${path}/search?explain=true`, { query: 'q', mode: 'keyword' }],
      [`${path}/search`, { query: 'q', mode: 'keyword', explain: true }],
    ] as const)
      expect((await server.call('POST', path_, given)).body).toMatchObject({ count: 0, trace })
    searched.splice(1)
    await server.call('POST', `${path}/search`, { query: 'q' })
    expect(searched).toEqual([query, { query: 'q', limit: 10 }])
    for (const wrong of [
      {},
      { query: '' },
      { query: 'q', limit: 101 },
      { query: 'q', context: 6 },
      { query: 'q', filters: [] },
    ]) {
      expect((await server.call('POST', `${path}/search`, wrong)).status).toBe(400)
    }
  })

  it('say what is configured and how full it is', async () => {
    expect((await server.call('GET', `${path}/config`)).body).toMatchObject({ embedding_model: embedding })
    expect((await server.call('GET', `${path}/status`)).body).toEqual(status)
    expect((await server.call('POST', `${path}/reindex`)).body).toEqual(status)
    expect((await server.call('POST', `${path}/reindex`, { embedder: 3 })).status).toBe(400)
  })

  it('reindex within the request timeout, or as a stream for as long as it takes', async () => {
    await server.close()
    const finish = Promise.withResolvers<void>()
    const reindex: Knowledge['reindex'] = async ({ progress, signal } = {}) => {
      progress?.({ step: 'embed', done: 0, total: 2 })
      const stopped = new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      await Promise.race([finish.promise, stopped])
      progress?.({ step: 'embed', done: 2, total: 2 })
      return status
    }
    server = await openTestServer({ knowledge: { ...recordingKnowledge(), reindex }, requestTimeoutMs: 50 })
    const streamed = server.call('POST', `${path}/reindex`, {}, { accept: 'text/event-stream' })
    expect(await server.call('POST', `${path}/reindex`)).toMatchObject({
      status: 504,
      body: { error: { code: 'timeout' } },
    })
    finish.resolve()
    const { headers, body } = await streamed
    expect(headers['content-type']).toBe('text/event-stream')
    const events = framesOf(body)
    expect(events.map(({ event, data }) => event === data.type)).not.toContain(false)
    expect(events[0]?.data).toEqual({ type: 'progress', step: 'embed', done: 0, total: 2 })
    expect(events.at(-1)?.data).toEqual({ type: 'done', status })
  })

  it('say in the stream of a reindexing why it failed, and before it by the status', async () => {
    const failures = [
      [new AppError('storage_full', 'No room.'), 507, { code: 'storage_full', message: 'No room.' }],
      [new Error('a secret'), 500, { code: 'internal', message: expect.not.stringContaining('secret') }],
    ] as const
    for (const [failure, code, error] of failures) {
      for (const hasBegun of [false, true]) {
        await server.close()
        const reindex: Knowledge['reindex'] = async ({ progress } = {}) => {
          if (hasBegun) progress?.({ step: 'download', done: 1, total: 2 })
          await new Promise((resolve) => setImmediate(resolve))
          throw failure
        }
        server = await openTestServer({ knowledge: { ...recordingKnowledge(), reindex } })
        const answer = await server.call('POST', `${path}/reindex`, {}, { accept: 'text/event-stream' })
        expect(answer.status).toBe(hasBegun ? 200 : code)
        const said = hasBegun ? framesOf(answer.body).at(-1)?.data : { type: 'error', ...answer.body }
        expect(said).toMatchObject({ type: 'error', error })
      }
    }
  })

  it('stop a reindexing whose reader has left', async () => {
    await server.close()
    const stopped = Promise.withResolvers<void>()
    const reindex: Knowledge['reindex'] = async ({ progress, signal } = {}) => {
      progress?.({ step: 'embed', done: 0, total: 2 })
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      stopped.resolve()
      throw signal?.reason
    }
    server = await openTestServer({ knowledge: { ...recordingKnowledge(), reindex } })
    const leaving = new AbortController()
    const headers = { accept: 'text/event-stream' }
    const response = await server.kernel.inject({
      method: 'POST',
      url: `${path}/reindex`,
      headers,
      signal: leaving.signal,
    })
    for await (const chunk of response.body) {
      expect(String(Buffer.from(chunk))).toContain('"done":0')
      break
    }
    leaving.abort()
    await stopped.promise
  })

  it('list, show and delete documents', async () => {
    expect((await server.call('GET', `${path}/documents`)).body).toEqual({
      documents: [document],
      count: 1,
      next_cursor: null,
    })
    expect((await server.call('GET', `${path}/documents?source=none`)).body.count).toBe(0)
    expect((await server.call('GET', `${path}/documents/doc_1`)).body).toEqual(document)
    expect((await server.call('DELETE', `${path}/documents/doc_1`)).body).toEqual({
      document_id: 'doc_1',
      deleted: true,
    })
    for (const method of ['GET', 'DELETE']) {
      expect((await server.call(method, `${path}/documents/none`)).body.error.code).toBe('document_not_found')
    }
  })

  it('are not there when switched off, or without a knowledge base', async () => {
    await server.close()
    const knowledgeApi = { search: false, config: true, content: false, documents: false }
    server = await openTestServer({ knowledge: recordingKnowledge(), settings: { knowledgeApi } })
    expect((await server.call('POST', `${path}/search`, { query: 'q' })).body.error.code).toBe('route_not_found')
    expect((await server.call('GET', `${path}/documents`)).status).toBe(404)
    const { body } = await server.call('GET', `${path}/config`)
    expect(body.features).toEqual({ search: false, content: false, documents: false })
    await server.close()
    server = await openTestServer()
    expect((await server.call('GET', `${path}/config`)).body.error.code).toBe('route_not_found')
  })
})

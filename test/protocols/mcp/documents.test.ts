import { describe, expect, test } from 'vitest'
import { type Any, openMcp, shown } from './support.ts'

async function openDocuments() {
  const opened = await openMcp({ server: { vectorDb: { type: 'memory' }, embedding: { provider: 'lexical' } } })
  const ingest = async (content: string, source: string, more: object = {}): Promise<string> => {
    const answer = await fetch(`${opened.url}/api/v1/knowledge/content`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content, source, ...more }),
    })
    return ((await answer.json()) as Any).document_id
  }
  return { ...opened, ingest }
}

const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, index) => `Paragraph ${index} tells of the lighthouse keeper.`).join('\n\n')

describe('search', () => {
  test('finds documents, in the shape that ChatGPT reads', async () => {
    const { call, ingest } = await openDocuments()
    const id = await ingest('Ottilie keeps the lighthouse.', 'notes/lighthouse.md')
    const web = await ingest('The lighthouse has a lamp.', 'https://example.org/lamp')
    const result = await call('search', { query: 'Who keeps the lighthouse?' })
    expect(result.content).toHaveLength(1)
    const { results } = JSON.parse(result.content[0].text)
    expect(results).toContainEqual({ id, title: 'notes/lighthouse.md', url: `agentserve://documents/${id}` })
    expect(results).toContainEqual({ id: web, title: 'https://example.org/lamp', url: 'https://example.org/lamp' })
    expect(shown(result).results[0]).toMatchObject({
      id,
      source: 'notes/lighthouse.md',
      content: 'Ottilie keeps the lighthouse.',
      score: expect.any(Number),
      line_start: 1,
    })
  })

  test('names a document once, and each of its passages', async () => {
    const { call, ingest } = await openDocuments()
    await ingest(paragraphs(60), 'long.md', { chunk_size: 200, chunk_overlap: 0 })
    const result = await call('search', { query: 'lighthouse keeper', limit: 5 })
    expect(JSON.parse(result.content[0].text).results).toHaveLength(1)
    expect(shown(result).results).toHaveLength(5)
  })

  test.each([
    [{ query: ' ' }, '`query` must not be empty.'],
    [{ query: 'x'.repeat(10_001) }, '`query` must have at most 10000 characters.'],
    [{ query: 'x', limit: 0 }, '`limit` must be an integer from 1 to 100.'],
    [{ query: 'x', collection: '../y' }, '`collection` must be 1 to 64 letters'],
  ])('refuses %j', async (given, text) => {
    const { call } = await openDocuments()
    expect(await call('search', given)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(text) }],
    })
  })

  test('finds nothing where nothing is', async () => {
    const { call } = await openDocuments()
    expect(shown(await call('search', { query: 'lighthouse' }))).toEqual({ results: [] })
  })
})

describe('fetch', () => {
  test('gives a whole document by its id or address', async () => {
    const { call, ingest } = await openDocuments()
    const text = paragraphs(200)
    const id = await ingest(text, 'long.md', { metadata: { author: 'Ottilie' }, chunk_size: 300, chunk_overlap: 60 })
    const result = await call('fetch', { id })
    expect(JSON.parse(result.content[0].text)).toEqual(shown(result))
    expect(shown(result)).toMatchObject({
      id,
      title: 'long.md',
      url: `agentserve://documents/${id}`,
      metadata: { author: 'Ottilie', source: 'long.md' },
    })
    expect(shown(result).text.replace(/\s+/g, ' ')).toBe(text.replace(/\s+/g, ' '))
    expect(shown(await call('fetch', { id: `agentserve://documents/${id}` })).id).toBe(id)
  })

  test('cuts a document that is too long, and says where', async () => {
    const { call, ingest } = await openDocuments()
    const id = await ingest(paragraphs(6000), 'long.md')
    const { text, metadata } = shown(await call('fetch', { id }))
    expect([text.length, metadata.cut_at]).toEqual([200_000, 200_000])
  })

  test('is an error for another id', async () => {
    const { call } = await openDocuments()
    expect(await call('fetch', { id: 'doc_none' })).toMatchObject({ isError: true })
    expect(await call('fetch', { id: '../../etc/passwd' })).toMatchObject({ isError: true })
  })
})

describe('resources', () => {
  test('are the documents, a hundred a page', async () => {
    const { connect, ingest, result } = await openDocuments()
    for (let number = 0; number < 101; number++) await ingest(`Page ${number}.`, `page-${number}.md`)
    const client = await connect()
    const first = await client.listResources()
    expect(first.resources).toHaveLength(100)
    const last = await client.listResources({ cursor: first.nextCursor as string })
    expect(last).toMatchObject({ resources: [{ mimeType: expect.stringMatching(/^text\//) }] })
    expect(last.nextCursor).toBeUndefined()
    const all = [...first.resources, ...last.resources]
    expect(new Set(all.map(({ uri }) => uri)).size).toBe(101)
    expect((await result('resources/list')).resources).toEqual(first.resources)
    const [one] = all
    const { contents } = await client.readResource({ uri: one?.uri as string })
    expect(contents).toEqual([{ uri: one?.uri, mimeType: one?.mimeType, text: expect.stringMatching(/^Page \d+\.$/) }])
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'agentserve://documents/{document_id}' },
    ])
  })

  test.each(['agentserve://documents/doc_none', 'agentserve://documents/%zz', 'file:///etc/passwd', 'x'])(
    '%s is none',
    async (uri) => {
      const { messages } = await openDocuments()
      expect((await messages('resources/read', { uri })).at(-1).error).toMatchObject({ code: -32602, data: { uri } })
    },
  )

  test('refuse a cursor that is none', async () => {
    const { messages } = await openDocuments()
    expect((await messages('resources/list', { cursor: 'nonsense' })).at(-1).error.code).toBe(-32602)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Chunk } from '../../../src/core/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

let place: KnowledgeFolder
let knowledge: Awaited<ReturnType<KnowledgeFolder['open']>>
beforeAll(async () => {
  place = await knowledgeFolder()
  knowledge = await place.open()
})
afterAll(() => place.remove())

const failure = (code: string) => expect.objectContaining({ code })
const paragraphs = (count: number, word = 'Paragraph') =>
  Array.from({ length: count }, (_, at) => `${word} ${at} is about the keeper.`).join('\n\n')

function ingest(source: string, content: string, more: object = {}) {
  return knowledge.ingest({ content, source, chunker_type: 'paragraph', chunk_size: 40, chunk_overlap: 0, ...more })
}

/** All chunks of a document, and the number of pages. */
async function read(documentId: string, limit: number): Promise<{ chunks: Chunk[]; pages: number }> {
  const chunks: Chunk[] = []
  let pages = 0
  for (let cursor: string | undefined; ; ) {
    const page = await knowledge.listChunks(documentId, { limit, cursor })
    chunks.push(...page.items)
    pages++
    if (page.next === null) return { chunks, pages }
    cursor = page.next
  }
}

describe('a chunk', () => {
  it('is found by its id, as a search shows it', async () => {
    await ingest('one.txt', paragraphs(8, 'Heron'), { metadata: { topic: 'birds' } })
    const { results } = await knowledge.search({ query: 'Heron 4', limit: 1 })
    const { score: _score, ...shown } = results[0] ?? expect.fail()
    expect(shown.metadata).toEqual({ topic: 'birds' })
    expect(await knowledge.getChunk(shown.chunk_id)).toEqual({ ...shown, before: [], after: [] })
  })

  it('comes with its neighbours, fewer at the ends of the document', async () => {
    const { chunk_ids: ids } = await ingest('two.txt', paragraphs(8, 'Ibis'))
    expect(ids).toHaveLength(8)
    const around = async (at: number, context: number) => {
      const { before, after, chunk_id } = await knowledge.getChunk(ids[at] ?? '', context)
      const idsOf = (chunks: Chunk[]) => chunks.map((chunk) => chunk.chunk_id)
      return [idsOf(before), [chunk_id], idsOf(after)]
    }
    expect(await around(4, 2)).toEqual([ids.slice(2, 4), ids.slice(4, 5), ids.slice(5, 7)])
    expect(await around(0, 5)).toEqual([[], ids.slice(0, 1), ids.slice(1, 6)])
    expect(await around(7, 1)).toEqual([ids.slice(6, 7), ids.slice(7), []])
  })

  it('is gone when its document has other content, or is deleted', async () => {
    const first = await ingest('three.txt', 'The first content.')
    const second = await ingest('three.txt', 'The second content.')
    expect(second.document_id).toBe(first.document_id)
    await expect(knowledge.getChunk(first.chunk_ids[0] ?? '')).rejects.toEqual(failure('chunk_not_found'))
    expect((await knowledge.getChunk(second.chunk_ids[0] ?? '')).content).toContain('second')
    await knowledge.deleteDocument(second.document_id)
    await expect(knowledge.getChunk(second.chunk_ids[0] ?? '')).rejects.toEqual(failure('chunk_not_found'))
    await expect(knowledge.getChunk("' OR 1=1 --")).rejects.toEqual(failure('chunk_not_found'))
  })

  it('has only as many neighbours as fit in 1 MB, the nearest', async () => {
    const metadata = { text: 'm'.repeat(90_000) }
    const { chunk_ids: ids } = await ingest('four.txt', paragraphs(20, 'Stork'), { metadata })
    const { before, after } = await knowledge.getChunk(ids[10] ?? '', 5)
    expect(before.length + after.length).toBe(10)
    const texts = { text: 'ü'.repeat(49_000) }
    const { chunk_ids: wide } = await ingest('five.txt', paragraphs(20, 'Crane'), { metadata: texts })
    const middle = await knowledge.getChunk(wide[10] ?? '', 5)
    expect([...middle.before, middle, ...middle.after].map((chunk) => chunk.chunk_id)).toEqual(wide.slice(5, 15))
    const end = await knowledge.getChunk(wide[0] ?? '', 5)
    expect(end.after.map((chunk) => chunk.chunk_id)).toEqual(wide.slice(1, 6))
  })

  it.each([-1, 6, 1.5, Number.NaN, '2'])('is not given with %s neighbours', async (context) => {
    const { chunk_ids: ids } = await ingest('six.txt', 'The content.')
    await expect(knowledge.getChunk(ids[0] ?? '', context as number)).rejects.toEqual(failure('invalid_request'))
  })
})

describe('the chunks of a document', () => {
  it('come in order, page by page', async () => {
    const { document_id, chunk_ids } = await ingest('seven.txt', paragraphs(25, 'Bittern'))
    const { chunks, pages } = await read(document_id, 10)
    expect(pages).toBe(3)
    expect(chunks.map((chunk) => chunk.chunk_id)).toEqual(chunk_ids)
    expect((await read(document_id, 25)).pages).toBe(1)
  })

  it('end a page at 1 MB, and one chunk that is longer is a page', async () => {
    const metadata = { text: 'm'.repeat(90_000) }
    const long = await ingest('eight.txt', paragraphs(25, 'Egret'), { metadata })
    const { chunks, pages } = await read(long.document_id, 100)
    expect(pages).toBe(3)
    expect(chunks.map((chunk) => chunk.chunk_id)).toEqual(long.chunk_ids)
    // One character with many marks is never split.
    const marks = `a${'\u0301'.repeat(600_000)}`
    const single = await ingest('nine.txt', `${marks}\n\n${marks}`, { chunker_type: 'character' })
    const all = await read(single.document_id, 100)
    expect(all.chunks.map((chunk) => chunk.chunk_id)).toEqual(single.chunk_ids)
    expect(all.pages).toBe(single.chunk_ids.length)
  })

  it('are not mixed with those of other content that came between two pages', async () => {
    const { document_id } = await ingest('ten.txt', paragraphs(25, 'Gull'))
    const { next } = await knowledge.listChunks(document_id, { limit: 10 })
    await ingest('ten.txt', paragraphs(25, 'Tern'))
    const page = { limit: 10, cursor: next ?? expect.fail() }
    await expect(knowledge.listChunks(document_id, page)).rejects.toEqual(failure('conflict'))
    expect((await read(document_id, 10)).chunks[0]?.content).toContain('Tern')
  })

  it('are asked for with a cursor of an earlier page only, of a document that is there', async () => {
    const { document_id } = await ingest('eleven.txt', 'The content.')
    for (const cursor of ['x', '1', '1.', '1.-1', "1.0' OR 1"]) {
      await expect(knowledge.listChunks(document_id, { limit: 1, cursor })).rejects.toEqual(failure('invalid_request'))
    }
    await expect(knowledge.listChunks('doc_none', { limit: 1 })).rejects.toEqual(failure('document_not_found'))
  })
})

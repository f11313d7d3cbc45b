import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Chunk } from '../../../src/core/knowledge/knowledge.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { scanFile } from '../../../src/sources/file-content.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

let place: KnowledgeFolder
let knowledge: OpenableKnowledge
let folder: string
const { signal } = new AbortController()

beforeEach(async () => {
  place = await knowledgeFolder()
  knowledge = await place.open()
  folder = await mkdtemp(join(tmpdir(), 'long-'))
})
afterEach(async () => {
  await place.remove()
  await rm(folder, { recursive: true })
})

async function ingest(name: string, content: string | Uint8Array, more: object = {}) {
  await writeFile(join(folder, name), content)
  const file = await scanFile(join(folder, name), signal)
  return knowledge.ingestFile({ source: name, name, file, chunk_size: 4_000, chunk_overlap: 0, ...more })
}

/** Every chunk of the only document, in order. */
async function chunks(): Promise<Chunk[]> {
  const { items } = await knowledge.listDocuments({}, { limit: 2 })
  expect(items).toHaveLength(1)
  const all: Chunk[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await knowledge.listChunks(items[0]?.document_id ?? '', { limit: 100, cursor })
    all.push(...page.items)
    if (page.next === null) break
    cursor = page.next
  }
  expect(all).toHaveLength(items[0]?.chunk_count ?? 0)
  return all
}

const filler = (letters: number) => 'Nothing of interest is told here.\n'.repeat(Math.ceil(letters / 34))

describe('a text of several parts', () => {
  it('has every character once, with its lines and offsets, as when it is read whole', async () => {
    const text = Array.from(
      { length: 60_000 },
      (_, at) => `Line ${at} 😀 of the text.${at % 9 === 0 ? '\r\n' : ''}\r\n`,
    ).join('')
    expect(await ingest('long.txt', text)).toMatchObject({ outcome: 'added', source: 'long.txt' })
    const found = await chunks()
    expect(found.map(({ content }) => content).join('') === text).toBe(true)
    expect(found.map(({ chunk_index }) => chunk_index)).toEqual(found.keys().toArray())
    const lines = text.split('\n')
    for (const { content, line_start, line_end, start_offset } of found) {
      expect(text.slice(start_offset, start_offset + content.length)).toBe(content)
      expect(lines[(line_start ?? 0) - 1]).toContain(content.split('\n', 1)[0])
      expect((line_end ?? 0) - (line_start ?? 0)).toBe(content.replace(/\n$/, '').split('\n').length - 1)
    }
    expect(await ingest('long.txt', text)).toMatchObject({ outcome: 'unchanged' })
    expect(await ingest('long.txt', `${text}One more.`)).toMatchObject({ outcome: 'replaced' })
    const { results } = await knowledge.search({ query: 'one more', mode: 'keyword', limit: 1 })
    expect(results[0]).toMatchObject({ line_end: lines.length })
  }, 30_000)

  it('keeps the headings and the block of code that an earlier part opened', async () => {
    const code = `\`\`\`sh\n# no heading\n${filler(1_500_000)}# none either\n\`\`\`\n`
    const text = `# Guide\n\n## Setup\n\n${filler(1_200_000)}\n${code}\nAfter the code.\n\n## Use\n\nThe last words.\n`
    await ingest('guide.md', `---\ntitle: The guide\n---\n${text}`)
    const found = await chunks()
    const pathOf = (words: string) => found.find(({ content }) => content.includes(words))?.metadata.heading_path
    expect(pathOf('After the code')).toEqual(['Guide', 'Setup'])
    expect(pathOf('none either')).toEqual(['Guide', 'Setup'])
    expect(pathOf('The last words')).toEqual(['Guide', 'Use'])
    const { items } = await knowledge.listDocuments({}, { limit: 1 })
    expect(items[0]?.reader_metadata).toMatchObject({ title: 'The guide', reader: 'markdown', encoding: 'utf-8' })
  }, 30_000)

  it('names the columns of a table in every part, on the lines of the file', async () => {
    const rows = Array.from(
      { length: 40_000 },
      (_, at) => `${at},"Town ${at}, ""north""","first line\nsecond line of ${at}"\n`,
    )
    await ingest('towns.csv', `number,town,note\n${rows.join('')}`)
    const found = await chunks()
    const last = found.at(-1)
    expect(last?.content).toContain('number: 39999; town: Town 39999, "north"; note: first line\nsecond line of 39999')
    expect(last?.line_end).toBe(80_001)
    const { items } = await knowledge.listDocuments({}, { limit: 1 })
    expect(items[0]?.reader_metadata).toMatchObject({ columns: ['number', 'town', 'note'], rows: 40_000 })
  }, 30_000)

  it('gives JSON on one line a line for each member across parts', async () => {
    const list = Array.from({ length: 30_000 }, (_, at) => ({ at, text: `"quoted", [${at}] and {more}, words` }))
    const json = JSON.stringify({ list })
    await ingest('list.json', json)
    const text = (await chunks()).map(({ content }) => content).join('')
    expect(JSON.stringify(JSON.parse(text))).toBe(json)
    expect(text).toContain('\n      "at":29999,\n')
  }, 30_000)

  it('is decoded as what the first bytes tell that are not UTF-8, or as it is named', async () => {
    const text = `${filler(1_500_000)}Où est l’été à Besançon ? Là-bas, près de la forêt, où l’on pêche.\n`
    const latin = Buffer.from(text.replaceAll('’', "'"), 'latin1')
    await ingest('latin.txt', latin)
    expect((await chunks()).at(-1)?.content).toContain("Où est l'été à Besançon")
    await ingest('latin.txt', Buffer.from(`\ufeff${text}`, 'utf16le'))
    expect((await chunks()).at(-1)?.content).toContain('Où est l’été à Besançon')
    const cyrillic = Buffer.concat([Buffer.from(filler(1_500_000)), Buffer.from([0xcb, 0xe5, 0xf1])])
    await expect(ingest('latin.txt', cyrillic)).rejects.toThrow('--encoding')
    await ingest('latin.txt', cyrillic, { encoding: 'windows-1251' })
    expect((await chunks()).at(-1)?.content).toContain('Лес')
  }, 30_000)
})

describe('a file that can not be ingested in parts', () => {
  it('leaves what was stored before, and nothing of itself', async () => {
    const old = `${filler(2_500_000)}The old words.`
    await ingest('a.txt', old)
    const before = await chunks()
    const broken = Buffer.concat([Buffer.from(filler(2_500_000)), Buffer.from('Words \0 of bytes.')])
    await expect(ingest('a.txt', broken)).rejects.toThrow('binary')
    await expect(ingest('a.txt', `${old}!`, { chunk_size: 2 })).rejects.toThrow('chunk_size')
    await expect(ingest('blank.txt', ' \n'.repeat(1_200_000))).rejects.toThrow('it is empty')
    expect(await chunks()).toEqual(before)
    const { chunks: count, vectors, documents } = await knowledge.status()
    expect({ count, vectors, documents }).toEqual({ count: before.length, vectors: before.length, documents: 1 })
  }, 30_000)

  it('is what it was when it is cancelled, and when it grows while it is read', async () => {
    await writeFile(join(folder, 'log.txt'), filler(3_500_000))
    const file = await scanFile(join(folder, 'log.txt'), signal)
    await appendFile(join(folder, 'log.txt'), 'Written later.\n')
    const stop = new AbortController()
    const stopped = {
      ...file,
      async *pieces() {
        for await (const piece of file.pieces()) {
          yield piece
          stop.abort(new Error('stopped'))
        }
      },
    }
    const log = { source: 'log.txt', name: 'log.txt' }
    await expect(knowledge.ingestFile({ ...log, file: stopped }, stop.signal)).rejects.toThrow('stopped')
    expect(await knowledge.status()).toMatchObject({ documents: 0, chunks: 0, vectors: 0 })
    await knowledge.ingestFile({ ...log, file })
    expect((await chunks()).at(-1)?.content).not.toContain('later')
  }, 30_000)
})

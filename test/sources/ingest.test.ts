import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../src/core/error.ts'
import type { IngestOutcome } from '../../src/core/knowledge/knowledge.ts'
import { type IngestTarget, ingestFiles, type SourceItem, toFailure } from '../../src/sources/ingest.ts'
import { collect } from '../support/collect.ts'

let root: string
const sources = Array.from({ length: 8 }, (_, place) => `${place}.md`)

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ingest-'))
  for (const source of sources) await writeFile(join(root, source), `The words of ${source}.`)
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** A server that has time for `most` contents a request, stores that many of one that is late, and says what it was sent. */
function slowServer(most: number) {
  const stored = new Set<string>()
  const sent: number[] = []
  const outcomeOf = ({ source, content }: SourceItem): IngestOutcome => {
    const outcome = stored.has(source) ? 'unchanged' : content === undefined ? 'needed' : 'added'
    if (content !== undefined) stored.add(source)
    return { source, outcome, document_id: stored.has(source) ? source : null, chunk_count: 1 }
  }
  const target: IngestTarget = {
    async many(items) {
      const contents = items.filter(({ content }) => content !== undefined)
      if (contents.length > 0) sent.push(contents.length)
      if (contents.length <= most) return items.map(outcomeOf)
      for (const item of contents.slice(0, most)) outcomeOf(item)
      throw new AppError('timeout', 'The request took longer than requestTimeout (30000 ms).')
    },
    one: () => Promise.reject(new Error('nothing is sent alone')),
    assertSize() {},
    stored: () => Promise.reject(new Error('nothing is forgotten')),
    forget: () => Promise.reject(new Error('nothing is forgotten')),
  }
  return { target, sent }
}

async function ingest(target: IngestTarget): Promise<IngestOutcome[]> {
  const files = { root, sources, signal: new AbortController().signal }
  return collect(ingestFiles(target, files))
}

describe('a part that the server has no time for', () => {
  it.each([
    [8, [8]],
    [4, [8, 4, 4]],
    [3, [8, 4, 2, 2, 4, 2, 2]],
    [1, [8, 4, 2, 1, 1, 2, 1, 1, 4, 2, 1, 1, 2, 1, 1]],
  ])('is sent in halves until it has: %i contents a request', async (most, requests) => {
    const { target, sent } = slowServer(most)
    const outcomes = await ingest(target)
    expect(outcomes.map(({ source, outcome }) => [source, outcome])).toEqual(sources.map((source) => [source, 'added']))
    expect(sent).toEqual(requests)
  })

  it('ends the ingestion, with what helps, when it has none for one file', async () => {
    const { target, sent } = slowServer(0)
    await expect(ingest(target)).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(/^0\.md can't be ingested in the time .* Raise server\.requestTimeout/),
    })
    expect(sent).toEqual([8, 4, 2, 1])
  })

  it('is not sent again for any other reason', async () => {
    const { target } = slowServer(8)
    let requests = 0
    const many: IngestTarget['many'] = async (items) => {
      if (items[0]?.content === undefined) return target.many(items)
      requests++
      throw new AppError('storage_full', 'The disk is full.')
    }
    await expect(ingest({ ...target, many })).rejects.toMatchObject({ code: 'storage_full' })
    expect(requests).toBe(1)
  })
})

it.each([
  [
    'git:repo@v1/docs/a.bin',
    "docs/a.bin can't be read: it is binary.",
    "git:repo@v1/docs/a.bin can't be read: it is binary.",
  ],
  ['a.bin', "a.bin can't be read: it is binary.", "a.bin can't be read: it is binary."],
  ['a.bin', "b.bin can't be read: it is binary.", "a.bin can't be read: b.bin can't be read: it is binary."],
  ['a.bin', 'it is binary.', "a.bin can't be read: it is binary."],
])('why %s failed names it once: %s', (source, message, expected) => {
  const { error } = toFailure({}, source, new AppError('unreadable_document', message))
  expect(error?.message).toBe(expected)
})

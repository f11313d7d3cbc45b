import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { scanFile } from '../../../src/sources/file-content.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { findDamage, ingestLongUntilKilled, ingestUntilKilled, vectorTables } from '../../support/knowledge/kills.ts'

const kills = 20

async function idle(knowledge: OpenableKnowledge) {
  for (;;) {
    const status = await knowledge.status()
    if (status.pending === 0) return status
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('a knowledge base whose process is killed', () => {
  let place: KnowledgeFolder
  beforeAll(async () => {
    place = await knowledgeFolder()
  })
  afterAll(() => place.remove())

  it(`has every acknowledged document whole, no orphan and no double after each of ${kills} kills`, async () => {
    for (let round = 0; round < kills; round++) {
      const acknowledged = await ingestUntilKilled(place.folder, round * 100, 1 + round * 2)
      expect(acknowledged.length).toBeGreaterThan(0)
      expect(await findDamage(place, acknowledged)).toEqual([])
    }
  }, 180_000)

  it('has a file that is ingested in parts as it was before, whole, after each of 3 kills', async () => {
    const path = join(place.folder, 'long.txt')
    const text = (version: number) => `This is version${version} of a long text.\n\n`.repeat(250_000)
    const earlier = await place.open()
    await writeFile(path, text(1).slice(0, 3_000_000))
    const file = await scanFile(path, new AbortController().signal)
    const settings = { source: 'long.txt', name: 'long.txt', chunk_size: 500 }
    const { chunk_count } = await earlier.ingestFile({ ...settings, file })
    await earlier.close()
    await writeFile(path, text(2))
    for (const pieces of [3, 5, 8]) {
      await ingestLongUntilKilled(place.folder, path, pieces)
      expect(await findDamage(place, [{ source: 'long.txt', at: 1, chunk_count }])).toEqual([])
      const knowledge = await place.open()
      const { items } = await knowledge.listDocuments({ source: 'long.txt' }, { limit: 1 })
      expect(items[0]).toMatchObject({ chunk_count, content_hash: file.hash })
      await knowledge.close()
    }
  }, 120_000)

  it('writes vectors again that LanceDB lost, and drops tables that nobody knows', async () => {
    const vectors = lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })
    for (const [name, dimensions] of vectorTables) {
      const table = await vectors.table(name, dimensions)
      const [first, second] = [...(await table.counts()).keys()]
      const vector = new Float32Array(dimensions).fill(1)
      await table.removeGenerations([first ?? 0])
      await table.add([{ chunk: 2_000_000_000, generation: second ?? 0, vector }])
      await table.add([{ chunk: 2_000_000_001, generation: 2_000_000_000, vector }])
    }
    await vectors.table('c9_v9', 4)
    await vectors.close()
    const knowledge = await place.open()
    const status = await idle(knowledge)
    expect(status.vectors).toBe(status.chunks)
    await knowledge.close()
    const after = lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })
    expect((await after.names()).sort()).toEqual(vectorTables.map(([name]) => name))
    await after.close()
    expect(await findDamage(place, [])).toEqual([])
  })

  it('leaves few files behind once its writes are made one', async () => {
    const knowledge = await place.open()
    await knowledge.reindex()
    const { chunks } = await knowledge.status()
    await knowledge.close()
    const files = await readdir(join(place.folder, 'knowledge', 'vectors'), { recursive: true })
    expect(files.length).toBeLessThanOrEqual(Math.max(100, chunks / 100))
  })
})

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { findDamage, ingestUntilKilled } from '../../support/knowledge/kills.ts'

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

  it('writes vectors again that LanceDB lost, and drops tables that nobody knows', async () => {
    const vectors = lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })
    const [name = ''] = await vectors.names()
    const table = await vectors.table(name, 1024)
    const [first, second] = [...(await table.counts()).keys()]
    await table.removeGenerations([first ?? 0])
    await table.add([{ chunk: 2_000_000_000, generation: second ?? 0, vector: new Float32Array(1024).fill(1) }])
    await table.add([{ chunk: 2_000_000_001, generation: 2_000_000_000, vector: new Float32Array(1024).fill(1) }])
    await vectors.table('c9_v9', 4)
    await vectors.close()
    const knowledge = await place.open()
    const status = await idle(knowledge)
    expect(status.vectors).toBe(status.chunks)
    await knowledge.close()
    const after = lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })
    expect(await after.names()).toEqual([name])
    await after.close()
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

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lanceVectors } from '../../src/knowledge/vectors/lancedb.ts'
import type { OpenableKnowledge } from '../../src/service/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../support/knowledge.ts'

const child = join(import.meta.dirname, '..', 'support', 'ingest-child.ts')

interface Acknowledged {
  source: string
  at: number
  chunk_count: number
}

async function ingestUntilKilled(folder: string, from: number, acknowledgements: number): Promise<Acknowledged[]> {
  const process_ = spawn(process.execPath, ['--no-warnings', child, folder, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged: Acknowledged[] = []
  for await (const line of createInterface({ input: process_.stdout })) {
    acknowledged.push(JSON.parse(line))
    if (acknowledged.length === acknowledgements) process_.kill('SIGKILL')
  }
  if (process_.signalCode === null && process_.exitCode === null) await once(process_, 'exit')
  expect(process_.signalCode).toBe('SIGKILL')
  return acknowledged
}

async function settled(knowledge: OpenableKnowledge) {
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

  it.each([
    [1, 0, 5],
    [2, 100, 8],
  ])(
    'has every acknowledged document whole and no vector too many (kill %i)',
    async (_kill, from, acknowledgements) => {
      const acknowledged = await ingestUntilKilled(place.folder, from, acknowledgements)
      const knowledge = await place.open()
      const status = await settled(knowledge)
      expect(status.vectors).toBe(status.chunks)
      const { items } = await knowledge.listDocuments({}, { limit: 100 })
      for (const { source, at, chunk_count } of acknowledged) {
        const item = items.find((each) => each.source === source)
        expect(item).toBeDefined()
        const { results } = await knowledge.search({
          query: `version${at}`,
          filters: { source },
          mode: 'keyword',
          limit: 100,
        })
        // A later version may have become current before the kill; the acknowledged one is never half there.
        if (results.length > 0) expect(item?.chunk_count).toBe(chunk_count)
      }
      for (const item of items) {
        const { results } = await knowledge.search({
          query: 'doc big',
          mode: 'keyword',
          filters: { source: item.source },
          limit: 100,
        })
        expect(results.length).toBe(Math.min(100, item.chunk_count))
        expect(new Set(results.map((hit) => /version\d+/.exec(hit.content)?.[0])).size).toBe(1)
      }
      await knowledge.close()
    },
  )

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
    const status = await settled(knowledge)
    expect(status.vectors).toBe(status.chunks)
    await knowledge.close()
    const after = lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })
    expect(await after.names()).toEqual([name])
    await after.close()
  })
})

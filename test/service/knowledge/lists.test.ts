import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Embedders } from '../../../src/core/knowledge/drivers.ts'
import { createEmbedders } from '../../../src/knowledge/embedders/all.ts'
import { lexicalEmbedding } from '../../../src/knowledge/embedders/lexical.ts'
import { staticEmbedding } from '../../../src/knowledge/embedders/static.ts'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

const learned = staticEmbedding.dimensions
const hashed = lexicalEmbedding.dimensions

describe('the vectors of a collection', () => {
  let place: KnowledgeFolder
  beforeEach(async () => {
    place = await knowledgeFolder()
  })
  afterEach(() => place.remove())

  const lexical = { embedding: { provider: 'lexical' } } as const

  /** What is stored, by table; the knowledge base must be closed. */
  const stored = async (dimensions: Record<string, number>) => {
    const vectors = lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })
    const counts: Record<string, number> = {}
    for (const name of (await vectors.names()).sort())
      counts[name] = await (await vectors.table(name, dimensions[name] ?? 0)).count()
    await vectors.close()
    return counts
  }
  const both = { k1_v1: learned, k1_v1_hashed_ngrams_1: hashed }
  const listsOf = async (knowledge: OpenableKnowledge, query: string) => {
    const { trace } = await knowledge.search({ query, trace: true })
    return new Set(trace?.candidates.flatMap(({ lists }) => Object.keys(lists)))
  }

  it('are by static and hashed for auto, and both are searched beside the keywords', async () => {
    const knowledge = await place.open()
    await knowledge.ingest({ content: 'The harbour opens at six.', source: 'harbour' })
    await knowledge.ingest({ content: 'Der Hafen öffnet um sechs.', source: 'hafen' })
    expect(await knowledge.status()).toMatchObject({ vectors: 2, pending: 0, embedding_model: staticEmbedding })
    expect(await listsOf(knowledge, 'harbour')).toEqual(new Set(['keyword', 'static', 'lexical']))
    await knowledge.close()
    expect(await stored(both)).toEqual({ k1_v1: 2, k1_v1_hashed_ngrams_1: 2 })
  })

  it('stay those of the embedder that an old collection has, until it is reindexed with another', async () => {
    const before = await place.open(lexical)
    for (let at = 0; at < 3; at++) await before.ingest({ content: `The harbour number ${at}.`, source: `s${at}` })
    await before.close()
    expect(await stored({ k1_v1: hashed })).toEqual({ k1_v1: 3 })

    const now = await place.open()
    await now.ingest({ content: 'One more harbour.', source: 's3' })
    await now.reindex()
    expect(await now.status()).toMatchObject({ vectors: 4, pending: 0, embedding_model: { provider: 'lexical' } })
    expect(await listsOf(now, 'harbour')).toEqual(new Set(['keyword', 'lexical']))

    expect(await now.reindex({ embedder: 'static' })).toMatchObject({ vectors: 4, embedding_model: staticEmbedding })
    expect(await listsOf(now, 'harbour')).toEqual(new Set(['keyword', 'static', 'lexical']))
    await now.close()
    expect(await stored({ k1_v3: learned, k1_v3_hashed_ngrams_1: hashed })).toEqual({
      k1_v3: 4,
      k1_v3_hashed_ngrams_1: 4,
    })

    const back = await place.open()
    expect(await back.reindex({ embedder: 'lexical' })).toMatchObject({ embedding_model: { provider: 'lexical' } })
    expect((await back.search({ query: 'harbour' })).results).toHaveLength(4)
    await back.close()
    expect(await stored({ k1_v4: hashed })).toEqual({ k1_v4: 4 })
  })

  it('lose what is replaced and deleted in both lists', async () => {
    const knowledge = await place.open()
    const kept = await knowledge.ingest({ content: 'The lighthouse.', source: 'kept' })
    await knowledge.ingest({ content: 'word '.repeat(900), source: 'replaced' })
    await knowledge.ingest({ content: 'Now it is short.', source: 'replaced' })
    const { document_id } = await knowledge.ingest({ content: 'The harbour.', source: 'deleted' })
    await knowledge.deleteDocument(document_id)
    const { results } = await knowledge.search({ query: 'harbour', mode: 'vector' })
    expect(results.map(({ source }) => source)).not.toContain('deleted')
    await knowledge.close()
    expect(kept.chunk_count).toBe(1)
    expect(await stored(both)).toEqual({ k1_v1: 2, k1_v1_hashed_ngrams_1: 2 })
  })

  it('come again in the list that has lost some, or is not there yet', async () => {
    const before = await place.open()
    for (let at = 0; at < 3; at++) await before.ingest({ content: `The harbour number ${at}.`, source: `s${at}` })
    await before.close()
    const vectors = lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })
    await vectors.drop('k1_v1_hashed_ngrams_1')
    const table = await vectors.table('k1_v1', learned)
    const [first = 0] = (await table.counts()).keys()
    await table.removeGenerations([first])
    await vectors.close()

    const after = await place.open()
    while ((await after.status()).pending > 0) await new Promise((resolve) => setImmediate(resolve))
    expect(await after.status()).toMatchObject({ documents: 3, vectors: 3 })
    await after.close()
    expect(await stored(both)).toEqual({ k1_v1: 3, k1_v1_hashed_ngrams_1: 3 })
  })

  it('that a killed reindex was making are dropped, and those that it was to replace are whole', async () => {
    const before = await place.open(lexical)
    await before.ingest({ content: 'The harbour.', source: 's' })
    await before.close()
    const vectors = lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })
    const half = await vectors.table('k1_v2', learned)
    await half.add([{ chunk: 1, generation: 1, vector: new Float32Array(learned).fill(1) }])
    await vectors.table('k1_v2_hashed_ngrams_1', hashed)
    await vectors.close()
    const after = await place.open()
    expect((await after.search({ query: 'harbour', mode: 'vector' })).results).toHaveLength(1)
    expect(await after.status()).toMatchObject({ vectors: 1, pending: 0, embedding_model: { provider: 'lexical' } })
    await after.close()
    expect(await stored({ k1_v1: hashed })).toEqual({ k1_v1: 1 })
  })

  it('are none of a document when one of the lists can not be written', async () => {
    const working = createEmbedders({ provider: 'auto' })
    let isBroken = true
    const embedders: Embedders = {
      ...working,
      resolve: async () => ({ provider: 'other', model: 'm', dimensions: 2 }),
      configured: { provider: 'auto', model: undefined },
      open: async (embedding) => {
        if (embedding.provider !== 'other') return working.open(embedding)
        return {
          embedding,
          async embedTexts(texts) {
            if (isBroken) throw new Error('broken')
            return texts.map(() => Float32Array.of(1, 0))
          },
          embedQuery: async () => Float32Array.of(1, 0),
          close: async () => {},
        }
      },
    }
    const knowledge = await place.open({ embedders })
    await expect(knowledge.ingest({ content: 'The harbour.', source: 's' })).rejects.toThrow('broken')
    expect(await knowledge.status()).toMatchObject({ documents: 0, vectors: 0, pending: 0 })
    isBroken = false
    await knowledge.ingest({ content: 'The harbour.', source: 's' })
    await knowledge.close()
    expect(await stored({ k1_v1: 2, k1_v1_hashed_ngrams_1: hashed })).toEqual({ k1_v1: 1, k1_v1_hashed_ngrams_1: 1 })
  })

  it('are of one version of the table: another one asks for a reindex', async () => {
    const embedders = createEmbedders({ provider: 'auto' })
    await expect(embedders.open({ ...staticEmbedding, model: 'docs-en-0' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(
        "The static embedder 'docs-en-0' is of another version; run 'agentserve knowledge",
      ),
    })
  })
})

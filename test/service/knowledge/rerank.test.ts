import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import type { Reranker } from '../../../src/core/knowledge/drivers.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

const sources = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt']

/** Prefers later letters of the alphabet. */
function scripted(more: Partial<Reranker> = {}): Reranker & { asked: [query: string, texts: readonly string[]][] } {
  const asked: [string, readonly string[]][] = []
  return {
    asked,
    model: 'tiny/scripted',
    candidates: 3,
    timeoutMs: 60_000,
    problem: async () => undefined,
    async score(query, texts) {
      asked.push([query, texts])
      return texts.map((text) => text.charCodeAt(text.length - 1) / 200)
    },
    close: async () => {},
    ...more,
  }
}

describe('a search with a reranker', () => {
  let place: KnowledgeFolder
  beforeEach(async () => {
    place = await knowledgeFolder()
  })
  afterEach(() => place.remove())
  const open = async (reranker: Reranker) => {
    const knowledge = await place.open({ reranker, vectorDb: { type: 'memory' } })
    for (const source of sources)
      await knowledge.ingest({ content: `# Boats\n\nBarnacle ${source.slice(0, 1)}`, source, name: 'x.md' })
    return knowledge
  }
  const query = { query: 'barnacle', trace: true, explain: true }

  it('has the best by its scores and the rest behind them, and says where each was before', async () => {
    const reranker = scripted()
    const knowledge = await open(reranker)
    const { results, trace } = await knowledge.search(query)
    const [asked] = reranker.asked
    expect(asked?.[0]).toBe('barnacle')
    expect(asked?.[1].every((text) => text.startsWith('Boats\n'))).toBe(true)
    const before = (at: number) => results[at]?.explain?.lists.fused?.rank
    const places = results.map((_, at) => before(at) ?? 0)
    expect(places.slice(0, 3).sort()).toEqual([1, 2, 3])
    expect(places.slice(3)).toEqual([4, 5])
    const scores = results.map(({ score }) => score)
    expect(scores).toEqual([...scores].sort((one, other) => other - one))
    const letters = results.slice(0, 3).map(({ source }) => source)
    expect(letters).toEqual([...letters].sort().reverse())
    expect(results.map(({ explain }) => explain?.lists.rerank?.rank)).toEqual([1, 2, 3, undefined, undefined])
    expect(trace?.candidates.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5])
    expect(trace?.rerank).toEqual({ model: 'tiny/scripted', candidates: 3, duration_ms: expect.any(Number) })
    expect((await knowledge.search({ query: 'barnacle' })).results.map(({ source }) => source)).toEqual(
      results.map(({ source }) => source),
    )
  })

  it('gives only what passes the filters to it', async () => {
    const reranker = scripted()
    const knowledge = await open(reranker)
    const { results } = await knowledge.search({
      ...query,
      filters: { source: { not_in: ['a.txt', 'b.txt', 'c.txt', 'd.txt'] } },
    })
    expect(results.map(({ source }) => source)).toEqual(['e.txt'])
    expect(reranker.asked[0]?.[1]).toHaveLength(1)
    await knowledge.search({ ...query, filters: { source: 'none' } })
    expect(reranker.asked).toHaveLength(1)
  })

  const failures: [string, Partial<Reranker>, string][] = [
    ['fails', { score: () => Promise.reject(new AppError('unavailable', 'It is broken.')) }, 'It is broken.'],
    ['is too slow', { timeoutMs: 20, score: () => new Promise(() => {}) }, 'The reranker took longer than 0.02 s.'],
  ]
  it.each(failures)('goes on in the order of before when it %s, and says so', async (_, more, skipped) => {
    const knowledge = await open(scripted(more))
    const { results, trace } = await knowledge.search(query)
    expect(results).toHaveLength(5)
    expect(trace?.rerank).toMatchObject({ model: 'tiny/scripted', candidates: 3, skipped })
    expect(results[0]?.explain?.lists).not.toHaveProperty('fused')
  })

  it('ends when its caller leaves', async () => {
    const stop = new AbortController()
    const reranker = scripted({
      score: () => {
        stop.abort(new Error('gone'))
        return new Promise(() => {})
      },
    })
    await expect((await open(reranker)).search(query, stop.signal)).rejects.toThrow('gone')
  })

  it('warns at start when the model is missing', async () => {
    const warned: unknown[] = []
    const logger = { debug() {}, info() {}, error() {}, warn: (...given: unknown[]) => void warned.push(given) }
    await place.open({ logger, reranker: scripted({ problem: async () => 'the model is not in /models' }) })
    expect(warned).toEqual([
      [{ model: 'tiny/scripted' }, 'search results are not reranked: the model is not in /models'],
    ])
  })
})

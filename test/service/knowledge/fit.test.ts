import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keywordList } from '../../../src/core/knowledge/lists.ts'
import { lexicalEmbedding } from '../../../src/knowledge/embedders/lexical.ts'
import { staticEmbedding } from '../../../src/knowledge/embedders/static.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

const topics = ['kiln', 'glaze', 'wheel', 'clay', 'brush', 'shelf', 'apron', 'sponge', 'needle', 'bucket']

describe('the fit of a search', () => {
  let place: KnowledgeFolder
  let knowledge: OpenableKnowledge
  beforeAll(async () => {
    place = await knowledgeFolder()
    knowledge = await place.open()
    await knowledge.ingestMany(
      topics.flatMap((topic) =>
        ['cleaning', 'storing', 'buying'].map((what) => ({
          source: `${topic}-${what}.md`,
          name: `${topic}-${what}.md`,
          content: `# ${what} a ${topic}\n\nFor ${what} a ${topic} take your time and ask the studio first.\n`,
        })),
      ),
    )
  })
  afterAll(() => place.remove())

  const fitOf = async (query: string, mode?: 'vector' | 'keyword') => {
    const { trace } = await knowledge.search({ query, mode, trace: true })
    return trace?.fit
  }

  it('is high for what the documents are about, and low for another subject', async () => {
    const own = await fitOf('How do I go about cleaning a glaze brush?')
    const other = await fitOf('How do I replicate a database across regions?')
    expect(own?.score).toBeGreaterThan(own?.threshold ?? 1)
    expect(other?.score).toBeLessThan(other?.threshold ?? 0)
  })

  it('tells of each word how many chunks have it, and which word of a passage counts for it', async () => {
    const fit = await fitOf('Store the kilns beside the autoclave')
    expect(fit?.chunks).toBe(30)
    const words = Object.fromEntries((fit?.words ?? []).map((each) => [each.word, each]))
    expect(words.kilns).toMatchObject({ as: 'kiln' })
    expect(words.autoclave).toEqual({ word: 'autoclave', chunks: 0, weight: expect.any(Number) })
    const weights = (await fitOf('autoclave kiln studio'))?.words.map(({ weight }) => weight) ?? []
    expect(weights).toEqual(weights.toSorted((one, another) => another - one))
  })

  it('takes a misspelt word for the one that it is near', async () => {
    const fit = await fitOf('cleanign the spnoge')
    expect(fit?.words).toContainEqual(expect.objectContaining({ word: 'cleanign', chunks: 0, as: 'cleaning' }))
    expect(fit?.score).toBeGreaterThan(fit?.threshold ?? 1)
  })

  it('counts a word half of which the documents have only what begins alike', async () => {
    const fit = await fitOf('shelfish')
    expect(fit?.words).toEqual([{ word: 'shelfish', chunks: 0, weight: expect.any(Number), as: 'shelf' }])
    expect(fit?.coverage).toBe(0.5)
  })

  it('has the best cosine of the hashed list, and what each list by vectors has in common with keywords', async () => {
    const { trace } = await knowledge.search({ query: 'cleaning a brush', trace: true })
    const lists = trace?.candidates.map((each) => each.lists) ?? []
    const best = Math.max(...lists.map((each) => each[lexicalEmbedding.provider]?.score ?? 0))
    expect(trace?.fit?.similarity).toBe(best)
    const common = [lexicalEmbedding, staticEmbedding].map(({ provider }) => {
      const isAmongBest = (place: { rank: number } | undefined) => place !== undefined && place.rank <= 5
      return lists.filter((each) => isAmongBest(each[keywordList]) && isAmongBest(each[provider])).length / 5
    })
    expect(trace?.fit?.agreement).toBeCloseTo(common.reduce((sum, share) => sum + share, 0) / common.length)
  })

  it('counts no agreement where there is nothing to choose from', async () => {
    const alone = { source: 'a.md', name: 'a.md', collection: 'one', content: '# Kilns\n\nKilns cool for a night.\n' }
    await knowledge.ingest(alone)
    const { trace } = await knowledge.search({ query: 'Kilns: football, cup?', collection: 'one', trace: true })
    const { score = 1, coverage = 0, similarity = 0, agreement } = trace?.fit ?? {}
    expect(agreement).toBe(1)
    expect(score).toBeCloseTo((0.45 * coverage + 0.1 * Math.min(1, similarity / 0.45)) / 0.55)
  })

  it('has the lead of the best before the fifth, by the scores of all lists', async () => {
    const { trace } = await knowledge.search({ query: 'cleaning a brush', trace: true })
    const scores = trace?.candidates.map(({ score }) => score) ?? []
    expect(trace?.fit?.lead).toBeCloseTo((scores[0] ?? 0) - (scores[4] ?? 0))
    const all = (await fitOf('cleaning'))?.lead
    expect(trace?.fit?.lead).toBeGreaterThan(all ?? 1)
  })

  it('takes a part of the score when hardly one of the best by words is among the best by vectors', async () => {
    // Every chunk has these words.
    const fit = await fitOf('time studio first')
    const { score = 0, coverage = 0, similarity = 0, agreement = 1, lead = 0 } = fit ?? {}
    expect(agreement).toBeLessThanOrEqual(0.1)
    const told = 1 - 5 / 30
    const parts = 0.45 * coverage + 0.1 * Math.min(1, similarity / 0.45)
    const compared = told * (0.35 * agreement + 0.1 * Math.min(1, lead / 0.5))
    expect(score).toBeCloseTo(((parts + compared) / (0.55 + 0.45 * told)) * (1 - 0.15 * told), 5)
  })

  it('is 1 when a heading is the question, word for word', async () => {
    expect(await fitOf('Cleaning a kiln?')).toMatchObject({ score: 1 })
    expect((await fitOf('What does “storing a wheel” say of football?'))?.score).toBe(1)
    expect((await fitOf('Cleaning one kiln?'))?.score).toBeLessThan(1)
  })

  it('has the parts that the search has: no vectors, no similarity; no keywords, no fit', async () => {
    expect(await fitOf('cleaning a brush', 'keyword')).toEqual({
      score: expect.any(Number),
      threshold: 0.5,
      coverage: 1,
      chunks: 30,
      words: expect.any(Array),
    })
    expect(await fitOf('cleaning a brush', 'vector')).toBeUndefined()
    expect(await fitOf('...')).toMatchObject({ score: 0, coverage: 0, words: [] })
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

let place: KnowledgeFolder
let knowledge: OpenableKnowledge
const filler = Array.from({ length: 30 }, (_, at) => ({
  source: `filler-${at}.md`,
  content: `The harbour opens in the morning. Boat number ${at} leaves before the others do.`,
}))
beforeAll(async () => {
  place = await knowledgeFolder()
  knowledge = await place.open()
  await knowledge.ingestMany([
    ...filler,
    { source: 'retry.md', content: 'Retry a call that failed once.' },
    { source: 'retries.md', content: 'Retries of a call that failed once.' },
    { source: 'before.md', content: 'Wash the deck before the harbour opens.' },
    { source: 'after.md', content: 'Wash the deck when the harbour closes.' },
    { source: 'vis.md', content: 'La gare maritime se trouve au nord.' },
  ])
})
afterAll(() => place.remove())

const search = async (query: string, more = {}) => knowledge.search({ query, mode: 'keyword', ...more })
const sources = async (query: string) => (await search(query)).results.map(({ source }) => source)

describe('keyword search', () => {
  it('finds the other forms of a word, below the very word', async () => {
    expect(await sources('retry')).toEqual(['retry.md', 'retries.md'])
    expect(await sources('retries')).toEqual(['retries.md', 'retry.md'])
    expect(await sources('retrying')).toHaveLength(2)
  })

  it('names the words that it looked for as they stand in the texts', async () => {
    const { trace, results } = await search('retrying calls', { trace: true, explain: true })
    expect(trace?.words.toSorted()).toEqual(['call', 'retries', 'retry'])
    expect(results[0]?.explain?.words.toSorted()).toEqual(['call', 'retries', 'retry'])
    expect(results.map(({ explain }) => explain?.text)).toContain('Retry a call that failed once.')
  })

  it('lets common words decide between what the telling ones found', async () => {
    expect((await sources('wash the deck before the harbour opens'))[0]).toBe('before.md')
    expect((await sources('wash the deck when the harbour closes'))[0]).toBe('after.md')
    // Only what has a telling word is found: every text has one of the others.
    expect(await sources('wash the deck before the harbour opens')).not.toContain('filler-1.md')
  })

  it('finds something by common words alone', async () => {
    expect((await sources('before the others')).length).toBeGreaterThan(0)
    expect((await sources('the')).length).toBeGreaterThan(0)
  })

  it('finds words of other languages as they are written', async () => {
    expect(await sources('gare maritime')).toEqual(['vis.md'])
  })

  it.each(['retry '.repeat(1_000), '"retry" OR NEAR(call)', "retry'; DROP TABLE chunk", 'retry \0 \ud800 ☃'])(
    'takes %j as words',
    async (query) => {
      expect((await sources(query))[0]).toBe('retry.md')
    },
  )
})

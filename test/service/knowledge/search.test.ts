import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

let place: KnowledgeFolder
beforeAll(async () => {
  place = await knowledgeFolder()
})
afterAll(() => place.remove())

describe('a word of the question that some document has', () => {
  it('puts that document before those with words like it', async () => {
    const knowledge = await place.open()
    const documents = Array.from({ length: 13 }, (_, at) => ({
      source: `${at + 290}.md`,
      content: `The burst${at + 290}q was counted.${' It was one of many.'.repeat(at)}`,
    }))
    await knowledge.ingestMany(documents)
    for (const mode of ['hybrid', 'keyword'] as const) {
      const { results } = await knowledge.search({ query: 'burst299q', mode })
      expect(results[0]?.source).toBe('299.md')
    }
    const { results } = await knowledge.search({ query: 'burst2999q', mode: 'keyword' })
    expect(results.map(({ source }) => source)).toContain('299.md')
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findQuotes } from '../../../src/models/quote.ts'
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

describe('the heading over a passage', () => {
  it.each([
    [
      'a.rst',
      'Empty the tank\n--------------\n\nTurn the red screw.\n\nFill the tank\n-------------\n\nLift the lid.\n',
    ],
    ['a.html', '<h2>Empty the tank</h2><p>Turn the red screw.</p><h2>Fill the tank</h2><p>Lift the lid.</p>'],
    ['a.md', 'Empty the tank\n---\nTurn the red screw.\n\nFill the tank\n---\nLift the lid.\n'],
  ])('decides what is quoted of %s', async (name, content) => {
    const knowledge = await place.open()
    const collection = `of-${name.replace('.', '-')}`
    await knowledge.ingest({ content, name, collection })
    const question = 'How do I empty the tank?'
    const { results } = await knowledge.search({ query: question, collection })
    expect((await findQuotes(question, results)).quotes[0]?.text).toBe('Turn the red screw.')
  })
})

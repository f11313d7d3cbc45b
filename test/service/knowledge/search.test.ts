import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { searchModes } from '../../../src/core/knowledge/knowledge.ts'
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

describe('a question in other words than documents have', () => {
  it('finds what they call it, and is no worse where they do not', async () => {
    const knowledge = await place.open()
    const others = Array.from(
      { length: 30 },
      (_, at) => `## Siren ${at}\n\nTurn the handle of siren ${at}, then listen to it.\n`,
    )
    await knowledge.ingestMany([
      { source: 'sirens.md', content: others.join('\n'), collection: 'sirens' },
      { source: 'alarms.md', content: '# Alarms\n\nTo disable a siren, press F2.\n', collection: 'sirens' },
      { source: 'sirens.md', content: others.join('\n'), collection: 'only-sirens' },
    ])
    const query = 'How do I turn a siren off?'
    for (const mode of ['hybrid', 'keyword'] as const) {
      const { results, trace } = await knowledge.search({ query, mode, collection: 'sirens', trace: true })
      expect(results[0]?.source).toBe('alarms.md')
      expect(trace?.fit?.words.map(({ word }) => word)).toEqual(['turn', 'siren', 'disable'])
    }
    const { trace } = await knowledge.search({ query, collection: 'only-sirens', trace: true })
    expect(trace?.fit?.words.map(({ word }) => word)).toEqual(['turn', 'siren'])
  })
})

describe('a query that is the heading of a section', () => {
  it('finds that section first by words and by both, however often others say the words', async () => {
    const knowledge = await place.open()
    const others = Array.from({ length: 40 }, (_, at) => ({
      source: `other-${at}.md`,
      content: `# Model settings of call ${at}\n\nModel, call, settings: model settings, call settings, model call ${at}.\n`,
    }))
    const rows = Array.from({ length: 60 }, (_, at) => `| row ${at} | of this table |`).join('\n')
    await knowledge.ingestMany(
      [
        ...others,
        { source: 'loop.md', content: '# Loop\n\n## 3. Model call settings\n\nSet the temperature here.\n' },
        { source: 'table.md', content: `# Lists\n\n## Call settings of rows\n\n| A | B |\n|---|---|\n${rows}\n` },
      ].map((document) => ({ ...document, name: document.source, collection: 'titles' })),
    )
    for (const mode of searchModes) {
      const { results } = await knowledge.search({ query: 'Model call settings?', mode, collection: 'titles' })
      if (mode !== 'vector') expect(results[0]).toMatchObject({ source: 'loop.md', score: 1 })
      const { results: ofRows } = await knowledge.search({ query: 'call settings of rows', mode, collection: 'titles' })
      if (mode !== 'vector') expect(ofRows.slice(0, 2).map(({ source }) => source)).toEqual(['table.md', 'table.md'])
      for (const { score } of [...results, ...ofRows]) expect(score).toBeLessThanOrEqual(1)
    }
  })
})

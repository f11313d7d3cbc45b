import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { searchModes } from '../../../src/core/knowledge/knowledge.ts'
import { changelogWeight } from '../../../src/core/knowledge/weights.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

let place: KnowledgeFolder
beforeAll(async () => {
  place = await knowledgeFolder()
})
afterAll(() => place.remove())

const documents = [
  { source: 'CHANGELOG.md', content: 'The idle timeout of the anchor winch.' },
  { source: 'winch.md', content: 'The idle timeout of the anchor winch is set by a screw, and it is ten minutes.' },
  { source: 'only/CHANGELOG.md', content: 'Removed the barometer.' },
]

describe('the weights of sources', () => {
  it('put documents before changelogs that say the same, and show it in the trace', async () => {
    const knowledge = await place.open()
    await knowledge.ingestMany(documents)
    for (const mode of searchModes) {
      const { results, trace } = await knowledge.search({ query: 'idle timeout anchor winch', mode, trace: true })
      expect(results[0]?.source).toBe('winch.md')
      const [first, second] = trace?.candidates ?? []
      expect(first).not.toHaveProperty('weight')
      expect(second).toMatchObject({ source: 'CHANGELOG.md', rank: 2, weight: changelogWeight })
      expect(second?.score).toBeLessThanOrEqual(changelogWeight)
    }
    const { results } = await knowledge.search({ query: 'barometer' })
    expect(results[0]?.source).toBe('only/CHANGELOG.md')
  })

  it('follow the settings', async () => {
    const knowledge = await place.open({ weights: { 'CHANGELOG*': 1, 'winch.md': 0.2 } })
    const { results, trace } = await knowledge.search({ query: 'idle timeout anchor winch', trace: true })
    expect(results[0]?.source).toBe('CHANGELOG.md')
    expect(trace?.candidates.find(({ source }) => source === 'winch.md')?.weight).toBe(0.2)
  })
})

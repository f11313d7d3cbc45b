import { afterAll, beforeAll, expect, it } from 'vitest'
import { lay } from '../../../bench/retrieval/layouts.ts'
import { questionSets } from '../../../bench/retrieval/sets.ts'
import { type SearchMode, searchModes } from '../../../src/core/knowledge/knowledge.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { type SharedKnowledge, sharedKnowledge } from '../../support/knowledge/shared.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'

describePostgres('searches in Postgres and in SQLite', () => {
  let local: KnowledgeFolder
  let shared: SharedKnowledge
  beforeAll(async () => {
    local = await knowledgeFolder()
    shared = await sharedKnowledge()
  })
  afterAll(async () => {
    await shared.close()
    await local.remove()
  })

  /** Places with their scores, best first, those of one score in the order of their places; and the words that were searched. */
  const searchOf = async (knowledge: OpenableKnowledge, query: string, mode: SearchMode, collection: string) => {
    const { results, trace } = await knowledge.search({ query, mode, limit: 20, collection, trace: true })
    const ranking = results
      .map(({ source, line_start, score }) => ({ place: `${source}:${line_start}`, score: score.toFixed(4) }))
      .sort((one, other) => other.score.localeCompare(one.score) || one.place.localeCompare(other.place))
    return { ranking, words: trace?.words.toSorted() }
  }

  it.each(
    questionSets.filter(({ name }) => ['handbooks', 'pino'].includes(name)).map((set) => [set.name, set] as const),
  )('find the same in the set %s', { timeout: 240_000 }, async (_, set) => {
    const { documents, questions } = lay('files', await set.texts(), set.asked)
    const servers = [await local.open(), (await shared.open()).knowledge] as const
    const collection = set.name
    for (const knowledge of servers)
      await knowledge.ingestMany(documents.map((document) => ({ ...document, name: document.source, collection })))
    const compare = async (query: string, mode: SearchMode) => {
      const [one, other] = await Promise.all(servers.map((knowledge) => searchOf(knowledge, query, mode, collection)))
      // Of words that are nearly as similar, SQLite may find others.
      if (one?.words?.join() !== other?.words?.join()) return 1
      if (mode === 'keyword') expect(other, query).toEqual(one)
      // One keeps vectors in halves of floats.
      const scores = [one, other].map((found) => found?.ranking.map(({ score }) => Number(score)) ?? [])
      expect(scores[1]?.length).toBe(scores[0]?.length)
      for (const [at, score] of scores[0]?.entries() ?? [])
        expect(Math.abs(score - (scores[1]?.[at] ?? 0)), `${mode}: ${query}`).toBeLessThan(0.002)
      return 0
    }
    for (const { question } of questions) for (const mode of searchModes) expect(await compare(question, mode)).toBe(0)
    let different = 0
    for (const { question } of questions)
      different += await compare(question.replaceAll(/(\p{L}{4})\p{L}/gu, '$1'), 'keyword')
    expect(different).toBeLessThan(questions.length / 10)
  })
})

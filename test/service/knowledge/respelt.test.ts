import { afterAll, beforeAll, expect, it } from 'vitest'
import { SearchGivenUp } from '../../../src/core/knowledge/document-store.ts'
import { respeltWords, similarOnce } from '../../../src/service/knowledge/respelt.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

let place: KnowledgeFolder
beforeAll(async () => {
  place = await knowledgeFolder()
})
afterAll(() => place.remove())

it('a misspelt word is looked for by vectors as the word that it is meant to be', async () => {
  const knowledge = await place.open()
  const subjects = ['harbour', 'lantern', 'retention', 'compass', 'anchor', 'ladder', 'kitchen', 'machine']
  await knowledge.ingestMany(
    subjects.map((word) => ({
      source: `${word}.md`,
      content: `The ${word} is described here, with what it is for.\n`,
    })),
  )
  const placeIn = async (query: string) => {
    const { trace } = await knowledge.search({ query, trace: true })
    return trace?.candidates.find(({ source }) => source === 'retention.md')?.lists.static
  }
  const meant = await placeIn('retention')
  const misspelt = await placeIn('retension')
  expect(meant?.rank).toBe(1)
  expect(misspelt?.rank).toBe(1)
  expect(misspelt?.score).toBeGreaterThan((meant?.score ?? 1) / 2)
})

const known = new Map([
  ['cancel', 40],
  ['retention', 9],
  ['parcels', 3],
])
const collection = { key: 1 } as Parameters<typeof respeltWords>[1]
const asked = async (query: string, find: () => Promise<string[]> = async () => [...known.keys()]) => {
  const looked: string[] = []
  const similar = similarOnce(
    {
      similarWords: (_, word) => {
        looked.push(word)
        return find()
      },
    },
    collection,
  )
  const documents = { inflections: async () => new Map([['parcel', ['parcels']]]) }
  const frequencies = async (words: readonly string[]) => ({
    chunks: 100,
    words: new Map([...known].filter(([word]) => words.includes(word))),
    trigrams: new Map<string, number>(),
  })
  const found = await respeltWords(documents, collection, query, { frequencies, similar })
  await similar('cancle').catch(() => undefined)
  return { found, looked }
}

it.each([
  ['how do I cancle a retension', ['cancel', 'retention']],
  ['how do I cancel', []],
  // It has another form, begins otherwise, is too far away or too short.
  ['one parcel', []],
  ['the dancel', []],
  ['cnacle', []],
  ['cncl', []],
  ['', []],
])('of "%s" only words one slip away are meant', async (query, expected) => {
  expect((await asked(query)).found).toEqual(expected)
})

it('words are looked up once for a search, and a database that gives them up says nothing', async () => {
  const givenUp = () => Promise.reject(new SearchGivenUp('too slow'))
  expect(await asked('cancle')).toEqual({ found: ['cancel'], looked: ['cancle'] })
  expect(await asked('cancle', givenUp)).toEqual({ found: [], looked: ['cancle'] })
})

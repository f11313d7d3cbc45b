import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/error.ts'
import { allOf, type Filters, filterProblem } from '../../../src/core/knowledge/filter.ts'
import { searchModes } from '../../../src/core/knowledge/knowledge.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { someDocuments, someFilters } from '../../support/knowledge/filter-comparison.ts'
import { knowledgeFolder } from '../../support/knowledge/folder.ts'
import { matches } from '../../support/knowledge/plain-filter.ts'
import { sharedKnowledge } from '../../support/knowledge/shared.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'

/* A program that serves several users gives each search the filters of the user beside what the user asks for. */

const users = ['ann', 'bob', "o'neill", 'a\0b', '', 'ann ']
/** How a program says that a document is this user's. */
const owned: ((owner: string) => Filters)[] = [
  (owner) => ({ owner }),
  (owner) => ({ owner: { eq: owner } }),
  (owner) => ({ owner: [owner] }),
  (owner) => ({ and: [{ owner }, { not: { secret: true } }] }),
]
/** Fields of the question that name what the owner's filters do, and nonsense. */
const hostile = fc.oneof(
  fc.constantFrom<object>(
    ...[{ or: [{ owner: 'bob' }, { owner: { exists: true } }] }, { owner: 'bob' }, { not: { owner: 'nobody' } }],
    ...[{ or: [{}] }, { or: [{ and: [{}] }, { owner: 'bob' }] }, { not: { not: {} } }, { owner: users }],
    ...[{ owner: { ne: 'ann' } }, { owner: { prefix: '' } }, { source: { prefix: '' } }, { owner: { not_in: [] } }],
    ...[{ 'owner = owner OR 1': 1 }, { and: [] }, { or: {} }, { owner: { eq: { or: [] } } }],
    JSON.parse('{"__proto__": {"owner": "bob"}}'),
  ),
  someFilters,
  fc.record({ or: fc.array(fc.oneof(someFilters, fc.constant({ owner: 'bob' })), { minLength: 1, maxLength: 3 }) }),
  fc.object({ key: fc.constantFrom('owner', 'and', 'or', 'not', 'eq', 'in', 'exists', 'secret'), maxDepth: 3 }),
)
const question = fc.record({
  owner: fc.constantFrom(...users),
  as: fc.constantFrom(...owned),
  filters: hostile,
  way: fc.constantFrom<'all' | 'reversed' | 'over'>('all', 'reversed', 'over'),
  mode: fc.constantFrom(...searchModes),
})

function testOwners(open: () => Promise<{ knowledge: OpenableKnowledge; close: () => Promise<void> }>): void {
  let knowledge: OpenableKnowledge
  let close = async () => {}
  const ownerOf = new Map<string, { owner: string; secret: boolean }>()
  beforeAll(async () => {
    ;({ knowledge, close } = await open())
    const items = someDocuments()
      .slice(0, 60)
      .map(({ metadata }, at) => {
        const own = { owner: users[at % users.length] ?? '', secret: at % 7 === 0 }
        ownerOf.set(`source-${at}`, own)
        return { source: `source-${at}`, content: `Barnacle number ${at}.`, metadata: { ...metadata, ...own } }
      })
    await knowledge.ingestMany(items)
  })
  afterAll(() => close())

  it('finds nothing of others, whatever is asked for beside the filters of the owner', async () => {
    let found = 0
    let refused = 0
    const isOwn = fc.asyncProperty(question, async ({ owner, as, filters: asked, way, mode }) => {
      const own = as(owner)
      const filters = {
        all: () => allOf(own, asked as Filters),
        reversed: () => allOf(asked as Filters, own),
        over: () => ({ ...asked, ...own }) as Filters,
      }[way]()
      try {
        const { results } = await knowledge.search({ query: 'barnacle', limit: 100, mode, filters })
        found += results.length
        for (const { source } of results) {
          const of = ownerOf.get(source)
          expect(of?.owner).toBe(owner)
          expect(matches({ source, document_id: '', chunker_type: '', metadata: of ?? {} }, own)).toBe(true)
        }
        expect(filterProblem(filters)).toBeUndefined()
      } catch (error) {
        if (!isAppError(error) || error.code !== 'invalid_request') throw error
        refused++
        expect(filterProblem(filters)).toBeDefined()
      }
    })
    await fc.assert(isOwn, { numRuns: 300 })
    expect(found).toBeGreaterThan(100)
    expect(refused).toBeGreaterThan(0)
  })
}

describe('the knowledge base of several users in files', () =>
  testOwners(async () => {
    const place = await knowledgeFolder()
    const knowledge = await place.open({ embedding: { provider: 'lexical' } })
    return { knowledge, close: () => place.remove() }
  }))

describePostgres('the knowledge base of several users in Postgres', () =>
  testOwners(async () => {
    const shared = await sharedKnowledge()
    const { knowledge } = await shared.open()
    return { knowledge, close: () => shared.close() }
  }),
)

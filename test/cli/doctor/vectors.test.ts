import { expect, it } from 'vitest'
import { whereVectorsAre } from '../../../src/cli/commands/doctor/database.ts'

const extension = { version: '0.8.1', schema: 'public', oid: 1 }
const searched = { name: 'k1_v1', form: 'halfvec', hasIndex: true } as const
const kept = { name: 'k1_v2', form: 'bytea', hasIndex: false } as const

it('says who searches the vectors, without the names of their lists', () => {
  const tell = (...[found]: Parameters<typeof whereVectorsAre>) => {
    const { state, message } = whereVectorsAre(found)
    return [state, message]
  }
  expect(tell({ extension: { reason: 'pgvector is not installed' }, lists: [kept] })).toEqual([
    'ok',
    'pgvector is not installed: each server searches a copy of the vectors',
  ])
  expect(tell({ extension, lists: [searched] })).toEqual(['ok', 'pgvector 0.8.1 searches 1 list, 1 with an index'])
  expect(tell({ extension, lists: [searched, kept] })).toEqual([
    'warning',
    'pgvector 0.8.1 is there, but each server searches a copy of 1 of 2 lists, written before it was',
  ])
})

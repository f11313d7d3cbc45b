import { expect, test } from 'vitest'
import { createId, isSessionId } from '../../src/core/id.ts'

test('makes ids that sort by their making, also within a millisecond', () => {
  const ids = [1000, 1000, 1000, 1001, 1002, 1002].map((now) => createId('run', now))
  expect(ids.toSorted()).toEqual(ids)
  const many = Array.from({ length: 5000 }, () => createId('run', 2000))
  expect(many.toSorted()).toEqual(many)
  expect(new Set(many).size).toBe(5000)
  for (const id of ids) expect(id).toMatch(/^run_[0-9a-hjkmnp-tv-z]{26}$/)
})

test('knows what a caller may choose as a session id', () => {
  for (const id of ['a', 'A.b_c:d-9', 'x'.repeat(128), createId('ses')]) expect(isSessionId(id)).toBe(true)
  for (const id of ['', 'a b', 'a/b', 'ä', 'x'.repeat(129), 7, null]) expect(isSessionId(id)).toBe(false)
})

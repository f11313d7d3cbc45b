import { expect, test } from 'vitest'
import { branchesOf } from '../../src/studio/state/branches.ts'

const run = (run_id: string, replaced_by: string | null, second: number) => ({
  run_id,
  replaced_by,
  created_at: `2026-01-01T00:00:0${second}.000Z`,
})

test('a turn knows the runs that had its place, not those that came after them', () => {
  const runs = [run('a', null, 1), run('b', 'd', 2), run('c', 'd', 3), run('d', 'e', 4), run('e', null, 5)]
  expect([...branchesOf(runs)]).toEqual([['e', ['b', 'd', 'e']]])
})

test('one that came back is in its own place, and those that had it since are known', () => {
  const runs = [run('b', null, 2), run('c', null, 3), run('d', 'e', 4), run('e', 'b', 5)]
  expect([...branchesOf(runs)]).toEqual([['b', ['b', 'd', 'e']]])
})

test('marks in a circle, or without a run, end', () => {
  const runs = [run('a', 'b', 1), run('b', 'a', 2), run('c', 'gone', 3), run('d', null, 4)]
  expect([...branchesOf(runs)]).toEqual([])
})

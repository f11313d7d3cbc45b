import { array, assert, constantFrom, nat, property } from 'fast-check'
import { expect, it } from 'vitest'
import { diffLists } from '../../../src/core/text/list-diff.ts'

const list = array(constantFrom('a', 'b', 'c'), { maxLength: 12 })

/** Without what is in both, by trying everything. */
function fewest(from: readonly string[], to: readonly string[]): number {
  let row = [...to.keys(), to.length]
  for (const [place, one] of from.entries()) {
    const next = [place + 1]
    for (const [other, two] of to.entries()) {
      const both = one === two ? (row[other] ?? 0) : Number.POSITIVE_INFINITY
      next.push(Math.min(both, (row[other + 1] ?? 0) + 1, (next[other] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

it('makes one list of the other with the fewest edits, or says that there are too many', () => {
  assert(
    property(list, list, nat({ max: 24 }), (from, to, maxEdits) => {
      const changes = diffLists(from, to, maxEdits)
      const least = fewest(from, to)
      expect(changes === undefined).toBe(least > maxEdits)
      if (changes === undefined) return
      const without = (kind: string) => changes.filter((one) => one.kind !== kind).flatMap(({ items }) => items)
      expect([without('new'), without('gone')]).toEqual([from, to])
      expect(changes.flatMap(({ kind, items }) => (kind === 'same' ? [] : items))).toHaveLength(least)
    }),
  )
})

it('gives up soon on long lists that have nothing in common', () => {
  const from = Array.from({ length: 100_000 }, (_, number) => number)
  expect(
    diffLists(
      from,
      from.map((number) => -number - 1),
      500,
    ),
  ).toBeUndefined()
})

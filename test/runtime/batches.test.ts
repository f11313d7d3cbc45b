import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inParts } from '../../src/runtime/batches.ts'

const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0)

test('keeps everything in its order, in parts as large as they may be', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.integer({ min: 1, max: 30 }), (sizes, most) => {
      const parts = inParts(sizes, most, (size) => size)
      expect(parts.flat()).toEqual(sizes)
      for (const [at, part] of parts.entries()) {
        if (part.length > 1) expect(sum(part)).toBeLessThanOrEqual(most)
        const next = parts[at + 1]?.[0]
        if (next !== undefined) expect(sum(part) + next).toBeGreaterThan(most)
      }
    }),
  )
})

test('gives what is too large a part of its own', () => {
  expect(inParts([1, 9, 0, 2], 3, (size) => size)).toEqual([[1], [9], [0, 2]])
})

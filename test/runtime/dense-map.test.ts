import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DenseMap } from '../../src/runtime/dense-map.ts'

test('holds what a Map holds, whatever comes and goes', () => {
  const key = fc.integer({ min: 0, max: 8 }).map((number) => `k${number}`)
  const step = fc.oneof(
    fc.record({ do: fc.constant('set' as const), key, value: fc.nat() }),
    fc.record({ do: fc.constant('delete' as const), key }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const plain = new Map<string, number>()
      const map = new DenseMap<string, number>()
      for (const one of steps) {
        if (one.do === 'delete') expect(map.delete(one.key)).toBe(plain.delete(one.key))
        else {
          map.set(one.key, one.value)
          plain.set(one.key, one.value)
        }
        expect(map.size).toBe(plain.size)
        expect(map.values().toSorted()).toEqual([...plain.values()].toSorted())
        for (let number = 0; number <= 8; number++) {
          const asked = `k${number}`
          expect([map.has(asked), map.get(asked)]).toEqual([plain.has(asked), plain.get(asked)])
        }
      }
    }),
  )
})

test('may be changed while it is walked', () => {
  const map = new DenseMap<number, number>()
  for (let number = 0; number < 10; number++) map.set(number, number)
  const seen: number[] = []
  for (const value of map.values()) {
    seen.push(value)
    map.delete(value)
  }
  expect(seen).toHaveLength(10)
  expect(map.size).toBe(0)
})

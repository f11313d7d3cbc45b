import { expect, test } from 'vitest'
import { hopsOf, toHopsMetadata } from '../../src/core/access/hops.ts'

test.each(['1', '8', '999'])('a request says how many servers have passed it on: %s', (header) => {
  expect(hopsOf(toHopsMetadata(header) ?? {})).toBe(Number(header))
})

test.each([undefined, '', '0', '-1', '1.5', '1e3', '1000', ' 1', ['1', '2']])('takes %j for none', (header) => {
  expect(toHopsMetadata(header)).toBeUndefined()
  expect(hopsOf({})).toBe(0)
})

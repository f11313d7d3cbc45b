import { expect, test } from 'vitest'
import { checkSettings } from '../../../src/runnables/base/setting-check.ts'

const check = (settings: unknown) => () =>
  checkSettings('agent()', settings, { name: 'string', testDoubles: 'object' }, '', { testDoubles: 'testDoubles' })

test('a key with two letters swapped gets the suggestion that was meant', () => {
  expect(check({ naem: 'x' })).toThrow('agent() does not know `naem`; did you mean `name`?')
})

test('a key that has another name now is an error with the new name', () => {
  expect(check({ testDoubles: {} })).toThrow('agent(): `testDoubles` is now called `testDoubles`: rename it.')
})

import { expect, test } from 'vitest'
import { prices } from '../../../src/config/settings/prices.ts'
import { check } from '../../../src/schema/check.ts'

function complaints(value: unknown): string[] {
  const told: string[] = []
  check(prices(), value, 'prices', (path, message) => told.push(`${path} ${message}`))
  return told
}

test('takes prices by model, 0 and local included', () => {
  const given = {
    'openai/gpt-5': { input: 1.25, output: 10, cachedInput: 0.125, cacheWrite: 1.25, reasoning: 10 },
    'acme/free/model:x': { input: 0, output: 0 },
    'compatible/qwen3:8b': 'local',
  }
  expect(check(prices(), given, 'prices', () => expect.unreachable())).toEqual(given)
})

const price = { input: 1, output: 1 }

test.each([
  [
    { 'a/b': { ...price, cached: 1 } },
    'prices.a/b.cached is not a setting; expected one of input, output, cachedInput',
  ],
  [{ 'a/b': { ...price, cachedInputs: 1 } }, "prices.a/b.cachedInputs is not a setting; did you mean 'cachedInput'?"],
  [{ 'a/b': { input: 1 } }, 'prices.a/b.output is missing; it must be a price in USD per million tokens'],
  [{ 'a/b': { input: 1, output: -1 } }, 'prices.a/b.output must be a price in USD per million tokens, not -1'],
  [{ 'a/b': { input: 1, output: '2' } }, "prices.a/b.output must be a price in USD per million tokens, not '2'"],
  [{ 'a/b': { input: Number.NaN, output: 1 } }, 'prices.a/b.input must be a price in USD per million tokens, not NaN'],
  [{ 'a/b': 'free' }, "prices.a/b must be 'local', not 'free'"],
  [{ 'a/b': 3 }, 'prices.a/b must be an object with input, output, cachedInput, cacheWrite, reasoning, not 3'],
  [{ 'gpt-5': price }, "prices.gpt-5 must be named as in the record, provider/model, for example 'openai/gpt-5'"],
  [[price], 'prices must be an object with one entry per model'],
  ['local', 'prices must be an object with one entry per model'],
])('says what is wrong with %j', (value, words) => {
  const told = complaints(value)
  expect(told).toHaveLength(1)
  expect(told[0]).toContain(words)
})

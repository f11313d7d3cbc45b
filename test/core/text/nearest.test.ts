import { expect, test } from 'vitest'
import { nearest } from '../../../src/core/text/nearest.ts'

test.each([
  ['naem', 'name'],
  ['urn', 'run'],
  ['agent', 'agents'],
  ['temprature', 'temperature'],
  ['requestTimeuot', 'requestTimeout'],
])('%s was meant to be %s', (word, meant) => {
  expect(nearest(word, ['description', 'name', 'run', 'agents', 'temperature', 'requestTimeout'])).toBe(meant)
})

test('nothing is suggested for a word that is like none', () => {
  expect(nearest('colour', ['name', 'run'])).toBeUndefined()
  expect(nearest('mean', ['name'])).toBeUndefined()
})

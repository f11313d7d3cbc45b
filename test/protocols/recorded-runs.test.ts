import { expect, test } from 'vitest'
import { emittedTypes } from '../../src/core/event.ts'
import { recordedRuns } from '../support/protocols/recorded-runs.ts'

test('the runs that every protocol is tested with have each type of event', () => {
  const recorded = new Set<string>(recordedRuns.flatMap(({ events }) => events.map(({ type }) => type)))
  expect(emittedTypes.filter((type) => !recorded.has(type))).toEqual(['data_delta'])
})

import { expect, it } from 'vitest'
import {
  parseTraceparent,
  spanIdOfChildStep,
  spanIdOfRun,
  toTraceparent,
  traceIdOf,
} from '../../src/telemetry/trace-context.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

it.each([
  [`00-${traceId}-${spanId}-01`, true],
  [`00-${traceId}-${spanId}-00`, false],
  [`  00-${traceId}-${spanId}-03  `, true],
  [`cc-${traceId}-${spanId}-01-what-the-future-brings`, true],
])('reads %s', (header, isSampled) => {
  expect(parseTraceparent(header)).toEqual({ traceId, spanId, isSampled })
})

it.each([
  undefined,
  ['00', traceId],
  '',
  traceId,
  `ff-${traceId}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
])('ignores %j, which is no valid header', (header) => {
  expect(parseTraceparent(header)).toBeUndefined()
})

it('writes what it reads', () => {
  const header = toTraceparent({ traceId, spanId, isSampled: true })
  expect(header).toBe(`00-${traceId}-${spanId}-01`)
  expect(parseTraceparent(header)).toEqual({ traceId, spanId, isSampled: true })
})

it('gives a run the same ids in every process, and each stretch and step its own', () => {
  expect(traceIdOf('run_1')).toMatch(/^[0-9a-f]{32}$/)
  expect(traceIdOf('run_1')).toBe(traceIdOf('run_1'))
  const ids = [
    spanIdOfRun('run_1', 1),
    spanIdOfRun('run_1', 11),
    spanIdOfRun('run_11', 1),
    spanIdOfChildStep('run_1', 1),
  ]
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/)
  expect(new Set(ids).size).toBe(ids.length)
})

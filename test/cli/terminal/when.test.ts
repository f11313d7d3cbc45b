import { expect, test } from 'vitest'
import { localTime, shownTime, tableTime } from '../../../src/cli/terminal/when.ts'

const now = Date.parse('2026-01-10T12:00:00.000Z')
const before = (ms: number) => new Date(now - ms).toISOString()
const terminal = { stream: { isTTY: true }, now }

test('a table says how long ago it was, and the local time after a week', () => {
  expect(tableTime(before(0), terminal)).toBe('now')
  expect(tableTime(before(5 * 60_000), terminal)).toBe('5 min ago')
  expect(tableTime(before(30 * 86_400_000), terminal)).toBe(localTime(before(30 * 86_400_000)).slice(0, 16))
})

test('one time is shown in full, with how long ago it was', () => {
  const at = before(3 * 3_600_000)
  expect(shownTime(at, terminal)).toBe(`${localTime(at)} (3 h ago)`)
  expect(shownTime(before(-3_600_000), terminal)).toBe(localTime(before(-3_600_000)))
})

test('where programs read it, a time is as the server sent it', () => {
  for (const show of [tableTime, shownTime]) expect(show(before(0), { stream: {}, now })).toBe(before(0))
})

test('a local time is that of the clock on the wall', () => {
  const date = new Date(2026, 2, 5, 7, 8, 9)
  expect(localTime(date.toISOString())).toBe('2026-03-05 07:08:09')
  expect(localTime('no time')).toBe('no time')
})

import { expect, it } from 'vitest'
import { formatDuration } from '../../../src/cli/terminal/duration.ts'

it.each([
  [0, '0 ms'],
  [999.7, '1.0 s'],
  [1_449, '1.4 s'],
  [59_970, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [124_400, '2 min 4 s'],
])('shows %d ms as %j', (ms, shown) => {
  expect(formatDuration(ms)).toBe(shown)
})

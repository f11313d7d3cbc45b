import { describe, expect, test } from 'vitest'
import { formatScore } from '../../src/core/text/format.ts'
import { warningOf } from '../../src/studio/conversation/files/attachment-limits.ts'
import { gapOf } from '../../src/studio/parts/blocks.ts'
import { formatLines, safeName } from '../../src/studio/parts/format.ts'

describe('of a very long text', () => {
  test('the middle waits to be asked for', () => {
    const blocks = Array.from({ length: 100 }, () => 'a'.repeat(4000))
    expect(gapOf(blocks)).toEqual({ from: 8, to: 92, characters: 336_000 })
  })

  test('nothing waits when it is not that long', () => {
    expect(gapOf(Array.from({ length: 16 }, () => 'a'.repeat(4000)))).toBeUndefined()
    expect(gapOf(['a'.repeat(200_000)])).toBeUndefined()
    expect(gapOf([])).toBeUndefined()
  })
})

describe('a name of a file', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['evil\u202egnp.exe', 'evil\ufffdgnp.exe'],
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['a\u0000b\nc\u200b', 'a\ufffdb\ufffdc\ufffd'],
    [`${'x'.repeat(300)}.txt`, `${'x'.repeat(116)}….txt`],
    [`a.${'y'.repeat(300)}`, `a.${'y'.repeat(118)}…`],
  ])('%j is shown as %j', (name, shown) => {
    expect(safeName(name)).toBe(shown)
  })
})

describe('files that a server may not take', () => {
  const file = (size: number, name = 'a') => ({ name, size })
  const limits = 'By default a server takes 10 files of 8.0 MB, and 10.0 MB together.'
  const mb = 1024 * 1024
  test('are told when they are empty', () => {
    expect(warningOf([file(1), file(0, '\u202eb.txt')])).toBe('\ufffdb.txt is empty. Servers take no empty files.')
  })

  test.each([
    [[file(8 * mb)], ''],
    [[file(5 * mb), file(5 * mb)], ''],
    [Array.from({ length: 10 }, () => file(1)), ''],
    [[file(8 * mb + 1)], limits],
    [[file(6 * mb), file(5 * mb)], limits],
    [Array.from({ length: 11 }, () => file(1)), limits],
  ])('are told before they are sent %#', (files, words) => {
    expect(warningOf(files)).toBe(words)
  })
})

test.each([
  [0, '0.00'],
  [0.1234, '0.12'],
  [12.3456, '12.35'],
  [0.05, '0.05'],
  [0.0042, '0.0042'],
  [0.016_393, '0.0164'],
  [-0.000_123_4, '-0.000123'],
  [0.000_000_12, '1.2e-7'],
])('the score %d is shown as %s', (score, words) => {
  expect(formatScore(score)).toBe(words)
})

test('the lines of a passage are a range, and one line is no range', () => {
  expect([formatLines(7, 9), formatLines(7, 7), formatLines(7)]).toEqual(['7–9', '7', '7'])
})

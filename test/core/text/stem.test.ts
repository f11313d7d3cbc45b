import { describe, expect, it } from 'vitest'
import { beginningOf, longestEnding, stemOf } from '../../../src/core/text/stem.ts'

const families = [
  ['retry', 'retries', 'retried', 'retrying'],
  ['cache', 'caches', 'cached', 'caching'],
  ['match', 'matches', 'matched', 'matching'],
  ['set', 'sets', 'setting', 'settings'],
  ['use', 'uses', 'used', 'using'],
  ['agree', 'agrees', 'agreed'],
  ['timeout', 'timeouts'],
  ['add', 'adds', 'added', 'adding'],
  ['stop', 'stops', 'stopped', 'stopping'],
  ['class', 'classes'],
]

describe('the stem of a word', () => {
  it.each(families)('is one for the forms of %s', (...family) => {
    expect(new Set(family.map(stemOf)).size).toBe(1)
  })

  it('begins all its forms, which are not much longer', () => {
    for (const word of families.flat()) {
      const stem = stemOf(word)
      expect(word.startsWith(beginningOf(stem))).toBe(true)
      expect(word.length).toBeLessThanOrEqual(stem.length + longestEnding)
    }
  })

  it.each(['string', 'sing', 'bed', 'feed', 'status', 'process', 'is', 'as'])('leaves %s as it is', (word) => {
    expect(stemOf(word)).toBe(word)
  })

  it.each(['watchword5', 'burst299q', 'größen', '日本', 'max_sizes', '', 'e5s'])('never cuts %s', (word) => {
    expect(stemOf(word)).toBe(word)
  })

  it('leaves long data alone, at once', () => {
    const data = 'abed'.repeat(20_000)
    const startedMs = performance.now()
    expect(stemOf(data)).toBe(data)
    expect(performance.now() - startedMs).toBeLessThan(50)
  })
})

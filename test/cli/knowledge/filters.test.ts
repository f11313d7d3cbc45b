import { describe, expect, it } from 'vitest'
import { parseFilters } from '../../../src/cli/knowledge/filters.ts'

describe('--filter', () => {
  it.each([
    [['topic=office'], { topic: 'office' }],
    [['year=2026'], { year: 2026 }],
    [['public=true'], { public: true }],
    [['topic='], { topic: '' }],
    [['topic=a=b'], { topic: 'a=b' }],
    [['topic!=office'], { topic: { ne: 'office' } }],
    [['year >= 2026'], { year: { gte: 2026 } }],
    [['date<2026-02-01'], { date: { lt: '2026-02-01' } }],
    [['source^=docs/2026'], { source: { prefix: 'docs/2026' } }],
    [['version^=2'], { version: { prefix: '2' } }],
    [['{"or": [{"a": 1}, {"b": {"exists": false}}]}'], { or: [{ a: 1 }, { b: { exists: false } }] }],
    [['year>2025', 'year<=2026', '{}'], { and: [{ year: { gt: 2025 } }, { year: { lte: 2026 } }] }],
    [[], undefined],
    [undefined, undefined],
  ])('%j', (given, filters) => {
    expect(parseFilters(given)).toEqual(filters)
  })

  it.each([
    [['topic'], "--filter must be key=value, key>=value or a JSON object, not 'topic'."],
    [['=office'], "--filter must be key=value, key>=value or a JSON object, not '=office'."],
    [['{"a":'], `--filter must be key=value, key>=value or a JSON object, not '{"a":'.`],
    [['date>soon'], '--filter: date.gt must be a number, or an ISO date like 2026-01-31 or 2026-01-31T09:30:00Z.'],
    [['{"a": {"gtee": 1}}'], "--filter: a.gtee is not an operator (did you mean 'gte'?)."],
    [['a=1', '{"b": null}'], /^--filter: and.1.b must be a string/],
  ])('refuses %j', (given, message) => {
    expect(() => parseFilters(given)).toThrow(message)
  })
})

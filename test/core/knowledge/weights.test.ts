import { describe, expect, it } from 'vitest'
import { changelogWeight, sourceWeights } from '../../../src/core/knowledge/weights.ts'

describe('the weight of a source', () => {
  it.each([
    'CHANGELOG.md',
    'packages/core/CHANGELOG',
    'HISTORY.rst',
    'NEWS',
    'NEWS-2.0.txt',
    'docs/release-notes/2.4.md',
    'release_notes_v3.1.md',
    'ReleaseNotes.html',
    'docs/whatsnew/0.9.rst',
    "What's New.md",
    'https://example.org/changelog.html?all=1',
  ])('is low for %s', (source) => {
    expect(sourceWeights()(source)).toBe(changelogWeight)
  })

  it.each([
    'README.md',
    'docs/history-of-rome.md',
    'newsletter.md',
    'docs/how-to-write-a-changelog.md',
    'exchange.md',
    'docs/changes-to-make.md',
    'release.md',
    '',
  ])('is 1 for %j', (source) => {
    expect(sourceWeights()(source)).toBe(1)
  })

  it('is that of the first pattern that matches', () => {
    const weightOf = sourceWeights({ 'CHANGELOG*': 1, 'archive/new/**': 0.9, 'archive/**': 0.2, '*.txt': 0 })
    expect(weightOf('packages/a/changelog.md')).toBe(1)
    expect(weightOf('archive/new/a/b.md')).toBe(0.9)
    expect(weightOf('archive/old.md')).toBe(0.2)
    expect(weightOf('my/archive/old.md')).toBe(1)
    expect(weightOf('docs/notes.txt')).toBe(0)
    expect(weightOf('HISTORY.md')).toBe(changelogWeight)
  })

  it.each([
    ['docs/*.md', 'docs/a.md', true],
    ['docs/*.md', 'docs/a/b.md', false],
    ['docs/**/b.md', 'docs/b.md', true],
    ['docs/**/b.md', 'docs/x/y/b.md', true],
    ['./docs/', 'docs/x/y.md', true],
    ['v?.md', 'docs/v1.md', true],
    ['v?.md', 'docs/v10.md', false],
    ['{old,archive*}/**', 'archive-2020/a.md', true],
    ['{old,archive*}/**', 'oldest/a.md', false],
    ['a+b(c).md', 'a+b(c).md', true],
    ['a.md', 'abmd', false],
    ['[x].md', '[x].md', true],
    ['{open.md', '{open.md', true],
    ['https://example.org/**', 'https://example.org/a/b', true],
  ])('by %j for %j: %s', (pattern, source, matches) => {
    expect(sourceWeights({ [pattern]: 0.3 })(source)).toBe(matches ? 0.3 : 1)
  })
})

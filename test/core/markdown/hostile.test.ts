import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readMarkdown } from '../../../src/core/markdown/markdown.ts'
import { ours, theirs } from './as-marked.ts'

describe('readMarkdown, other than marked', () => {
  it.each([
    ['takes HTML for text, with its Markdown', '<div>\n**a**\n</div>', [['p', '<div>\n', ['strong', 'a'], '\n</div>']]],
    [
      'keeps the definition of a link, whose use may be in another part',
      '[a][1]\n\n[1]: http://b.test',
      [
        ['p', '[a][1]'],
        ['p', '[1]: ', ['link', 'http://b.test', 'http://b.test']],
      ],
    ],
    ['takes a version for no mail address', 'pkg@1.2.3', [['p', 'pkg@1.2.3']]],
    [
      'ends an address before a citation',
      'https://a.test/b[1]',
      [['p', ['link', 'https://a.test/b', 'https://a.test/b'], '[1]']],
    ],
    [
      'ends an address at the full stop of Chinese',
      '看 https://a.test。好',
      [['p', '看 ', ['link', 'https://a.test', 'https://a.test'], '。好']],
    ],
    ['begins no address in a word', 'xhttp://a.test', [['p', 'xhttp://a.test']]],
    [
      'keeps tabs in the code of a list',
      '- a\n  ```\n  \tb\n  ```',
      [['list  false', ['item', ['p', 'a'], ['code ', '\tb']]]],
    ],
    ['shows a task with a heading as one', '- [x] a\n  ===', [['list  false', ['task true', ['h1', 'a']]]]],
  ])('%s', (_, text, tree) => {
    expect(ours(text)).toEqual(tree)
    expect(theirs(text)).not.toEqual(tree)
  })
})

describe('readMarkdown of hostile text', () => {
  it('decodes no entity into a character that steers a terminal or turns the text', () => {
    const text = '&#27;[31m &#x9b; &#0; &#10; &#x202e; &#xd800; &#99999999; &#x110000; &toString; &constructor;'
    expect(ours(text)).toEqual([['p', text]])
    expect(ours('&#65;&#x1F600;&copy;&#xa0;&AMP;')).toEqual([['p', 'A😀©\u00a0&AMP;']])
  })

  it('reads lists, quotes and emphasis to a depth, and what is deeper as it is written', () => {
    const depths = (text: string) =>
      JSON.stringify(readMarkdown(text)).match(/"type":"(?:quote|list|source|strong|em)"/g)
    expect(depths('> '.repeat(5000))).toHaveLength(8)
    expect(depths(`${'- '.repeat(5000)}a`)).toHaveLength(8)
    expect(deepestOf(readMarkdown(`${'*a **b '.repeat(500)}${'c** d* '.repeat(500)}`))).toBeLessThan(120)
  })

  it('makes no cells of a wide table out of nothing', () => {
    const text = `${'|a'.repeat(2000)}\n${'|-'.repeat(2000)}\n${'x\n'.repeat(2000)}`
    expect(JSON.stringify(readMarkdown(text)).length).toBeLessThan(1_000_000)
  })

  // Time that grows with the square would be many seconds.
  const pieces = [
    '*a',
    '*a_',
    '*a **b ',
    'a** b* ',
    '**a*_',
    '_a*',
    '~a ~~b',
    '`a``',
    '[',
    '![',
    '[a](',
    '[a](<b',
    '[a](b "',
    '](',
  ].concat(
    [
      '[[a]',
      '![a](b)',
      '[*a](b)*',
      '<',
      '<a ',
      '&',
      '\\',
      '  \n',
      ' ',
      '\t',
      '> ',
      '- ',
      '- a\n\n',
      '- a\n  - b\n',
      '> a\nb\n',
      '|',
    ],
    [
      'a|b\n-|-\n',
      '|\n',
      '```\n',
      'a\n===\n',
      '# ',
      '* * a\n',
      'http://a(',
      'http://a)',
      'a@b.',
      'a.',
      '[x] ',
      '- [x] a\n',
      '"',
    ],
  )
  it.each(pieces)('is done at once with 50,000 characters of %j', (piece) => {
    const text = piece.repeat(50_000 / piece.length)
    for (const before of ['', '- *x [y `z ']) {
      const start = process.cpuUsage().user
      readMarkdown(before + text)
      expect((process.cpuUsage().user - start) / 1000).toBeLessThan(1000)
    }
  })

  it('ends with any text, and loses no word of it', () => {
    const marks = [
      '*',
      '**',
      '_',
      '~~',
      '`',
      '```',
      '[',
      '![',
      ']',
      '(',
      '](',
      ')',
      '<',
      '>',
      '&',
      '\\',
      '\n',
      '\n\n',
      '  \n',
      ' ',
      '\t',
    ]
    const starts = [
      '- ',
      '1. ',
      '> ',
      '# ',
      '    ',
      '  ',
      '---\n',
      '===\n',
      '- [x] ',
      'http://',
      '@',
      '"',
      ':',
      '|---|\n',
    ]
    const text = fc.array(fc.oneof(fc.constantFrom(...marks, ...starts), fc.constant(undefined)), { maxLength: 60 })
    fc.assert(
      fc.property(text, (pieces) => {
        const words = pieces.flatMap((piece, place) => (piece === undefined ? [`w${place}w`] : []))
        const read = JSON.stringify(readMarkdown(pieces.map((piece, place) => piece ?? `w${place}w`).join('')))
        expect(words.filter((word) => !read.includes(word))).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })
})

function deepestOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(deepestOf))
}

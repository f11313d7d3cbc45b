import { renderToString } from 'ink'
import { describe, expect, it } from 'vitest'
import { highlight } from '../../../src/cli/markdown/code.ts'
import { Markdown } from '../../../src/cli/markdown/markdown.tsx'
import { paintFor } from '../../../src/cli/terminal/paint.ts'

const plain = paintFor({}, {})
const coloured = paintFor({ isTTY: true }, {})

const show = (text: string, columns = 40, paint = plain) =>
  renderToString(<Markdown text={text} columns={columns} paint={paint} />, { columns })

describe('Markdown', () => {
  it.each([
    ['headings and paragraphs', '# One\n\ntwo\nthree', 'One\n\ntwo three'],
    ['styles', '**b** *i* ~~d~~ `c` &lt;x&gt; \\*', 'b i d `c` <x> *'],
    ['links with their URL, once', '[docs](http://x.test/a) http://y.test', 'docs (http://x.test/a) http://y.test'],
    ['pictures', '![a cat](cat.png)', '[a cat] (cat.png)'],
    ['lists in lists', '- a\n  - b\n- [x] c\n\n3. d\n4. e', '• a\n  • b\n• [x] c\n\n3. d\n4. e'],
    ['long items beside their mark', `- ${'word '.repeat(9)}`, `• ${'word '.repeat(7).trim()}\n  word word`],
    [
      'lines that do not begin with the space between two words',
      `${'word '.repeat(7)}fifth word`,
      `${'word '.repeat(7)}fifth\nword`,
    ],
    ['quotes', '> a\n> b', '│ a b'],
    ['lines of a paragraph as one, and of an item', 'one \n  two **x**\nthree\n\n- a\n  b', 'one two x three\n\n• a b'],
    ['hard line breaks', 'one\\\ntwo  \nthree', 'one\ntwo\nthree'],
    ['a source on a line of its own', 'It is\none.\n[1] docs/a.md:3', 'It is one.\n[1] docs/a.md:3'],
    ['lines of Chinese and Japanese without a space, of Korean with one', '端口\n服务\n한국\n어', '端口服务 한국 어'],
    ['code', '```ts\nif (a) {\n  b\n}\n```', '  if (a) {\n    b\n  }'],
    ['tables', '| a | bb |\n|--:|:-:|\n| 100 | 你 |', '  a │ bb\n────┼───\n100 │ 你'],
    ['HTML as it is written', '<b>x</b>', '<b>x</b>'],
  ])('shows %s', (_, text, shown) => {
    expect(show(text).replace(/ +$/gm, '')).toBe(shown)
  })

  it('shows a table that does not fit as rows of heads and cells', () => {
    const cell = 'x'.repeat(30)
    expect(show(`| one | two |\n|---|---|\n| ${cell} | ${cell} |`)).toBe(`one: ${cell}\ntwo: ${cell}`)
  })

  it('colours code whose language it knows, where colours are wanted', () => {
    expect(show('```ts\nconst a = 1\n```', 40, coloured)).toContain('\u001b[35mconst\u001b[39m')
    expect(show('```nonsense\nconst a = 1\n```', 40, coloured)).not.toContain('\u001b[')
    expect(show('# a\n\n**b**\n\n```ts\nconst a = 1\n```')).not.toContain('\u001b[')
  })

  // A library whose time grows with the third power takes half a minute.
  it('is done at once with code that is hard to colour', () => {
    const code = '[]('.repeat(3000)
    const start = performance.now()
    expect(highlight(code, 'markdown', coloured)).toBe(code)
    expect(performance.now() - start).toBeLessThan(1000)
  })

  it.each(['[', '> ', '- ', '*a_', '`', '![](', '<a ', '| a '])('is done with 4,096 characters of %j', (piece) => {
    expect(() => show(piece.repeat(Math.floor(4096 / piece.length)))).not.toThrow()
  })
})

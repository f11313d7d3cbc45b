import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ours, theirs } from './as-marked.ts'

const root = join(import.meta.dirname, '../../..')

/** Each section of the documentation as one text. Those with HTML or definitions are among the differences. */
const sections = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
  .flatMap((file) => readFileSync(join(root, file), 'utf8').split(/\n(?=#)/))
  .filter((text) => !/^ {0,3}(?:<|\[[^\]]+\]:)/m.test(text))

const word = fc.constantFrom('one', 'Zwei', 'три', '四', 'e.g.', '3,000', 'it’s', '🎉', 'x', 'snake_case_name', '2 * 3')
const plain = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
const piece = fc.oneof(
  plain,
  plain.map((text) => `**${text}**`),
  plain.map((text) => `*${text}*`),
  plain.map((text) => `_${text}_`),
  plain.map((text) => `***${text}***`),
  plain.map((text) => `~~${text}~~`),
  plain.map((text) => `**a *${text}* b**`),
  plain.map((text) => `\`${text}\``),
  plain.map((text) => `\`\` a\`${text} \`\``),
  plain.map((text) => `[${text}](https://host.test/a_b(c)?d=e&f#g "title")`),
  plain.map((text) => `[**${text}**](<a b.md>)`),
  plain.map((text) => `![${text}](picture.png)`),
  fc.constantFrom('https://host.test/a_b?c=d&e.', '(https://host.test/x)', 'www.host.test', 'ann@host.test'),
  fc.constantFrom('<https://host.test>', '<ann@host.test>', '\\*', 'a &amp; b &lt;c&gt;', '<b>d</b>', '[1]', '[1, 2]'),
)
const line = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => `So ${pieces.join(' and ')}`)
const paragraph = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 3 }), fc.constantFrom('\n', '  \n', '\\\n'))
  .map(([lines, end]) => lines.join(end))
const code = fc
  .tuple(fc.constantFrom('```', '~~~~'), fc.constantFrom('', 'ts', 'sh title="a"'), plain)
  .map(([fence, lang, text]) => `${fence}${lang}\n  if (${text}) {\n\n    # b\n  }\n${fence}`)
const table = fc
  .tuple(fc.constantFrom('|---|:-:|', '--:|:--', '| - | - |'), fc.array(fc.tuple(piece, plain), { maxLength: 3 }))
  .map(([rule, rows]) => `| a | **b** |\n${rule}\n${rows.map(([one, two]) => `| ${one} | ${two} \\| c |\n`).join('')}`)
const { block } = fc.letrec<{ block: string; list: string; quote: string }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 3 },
    paragraph,
    fc.tuple(fc.integer({ min: 1, max: 6 }), line).map(([level, text]) => `${'#'.repeat(level)} ${text}`),
    code,
    table,
    fc.constantFrom('---', '* * *'),
    plain.map((text) => `    indented ${text}\n\n    more`),
    line.map((text) => `${text}\n===`),
    tie('list'),
    tie('quote'),
  ),
  list: fc
    .tuple(
      fc.constantFrom('- ', '* ', '+ ', '1. ', '10) ', '-   '),
      fc.constantFrom('', '[ ] ', '[x] '),
      fc.array(fc.tuple(line, fc.option(tie('block'))), { minLength: 1, maxLength: 3 }),
      fc.constantFrom('\n', '\n\n'),
    )
    .map(([mark, task, items, gap]) => {
      const indent = ' '.repeat(mark.length)
      const inner = items.map(([text, more]) => `${task}${text}${more === null ? '' : `\n\n${more}`}`)
      return inner.map((text) => mark + text.replace(/\n(?=[^\n])/g, `\n${indent}`)).join(gap)
    }),
  quote: tie('block').map((text) => text.replace(/^/gm, '> ')),
}))
const answer = fc.array(block, { minLength: 1, maxLength: 6 }).map((blocks) => blocks.join('\n\n'))

describe('readMarkdown', () => {
  it('reads each section of the documentation as marked does', () => {
    expect(sections.length).toBeGreaterThan(300)
    for (const text of sections) expect(ours(text)).toEqual(theirs(text))
  })

  it('reads 500 made answers, with lists, quotes, tables and code in each other, as marked does', () => {
    fc.assert(
      fc.property(answer, (text) => {
        expect(ours(text)).toEqual(theirs(text))
      }),
      { numRuns: 500, seed: 6 },
    )
  })
})

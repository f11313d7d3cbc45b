import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { Lexer } from 'marked'
import { expect, test } from 'vitest'
import { lexerOf } from '../../scripts/studio/marked.ts'

const source = readFileSync(fileURLToPath(import.meta.resolve('marked')), 'utf8')

async function lexerOfPage(): Promise<typeof Lexer> {
  const module: { Lexer: typeof Lexer } = await import(
    `data:text/javascript;base64,${Buffer.from(lexerOf(source)).toString('base64')}`
  )
  return module.Lexer
}

const pieces = [
  '# a\n',
  'a\n===\n',
  '- a\n',
  '  - [x] b\n',
  '1. c\n',
  '> d\n',
  '```ts\nconst e\n```\n',
  '    code\n',
  '| a | b |\n|---|:-:|\n| c | d |\n',
  '---\n',
  '<div>\nf\n</div>\n',
  '[g]: http://h.test "i"\n',
  '\n',
  '**j**',
  '*k*',
  '_l_',
  '~~m~~',
  '`n`',
  '[o](p "q")',
  '![r](s)',
  '[g]',
  'http://t.test',
  'u@v.test',
  '<b>w</b>',
  '\\*',
  '  \n',
  '&amp;',
  'x',
  ' ',
  '*',
  '_',
  '[',
  ']',
  '(',
  ')',
  '`',
  '<',
  '>',
]

test('the page reads Markdown as the whole library does', async () => {
  const Page = await lexerOfPage()
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 20 }), (text) => {
      const [page, whole] = [Page.lex(text.join('')), Lexer.lex(text.join(''))]
      expect(JSON.stringify(page)).toBe(JSON.stringify(whole))
    }),
    { numRuns: 500 },
  )
})

test('a library of another form is refused, not cut somewhere', () => {
  expect(() => lexerOf(source.replaceAll('pedantic', 'strict'))).toThrow('marked has another form')
  expect(() => lexerOf('export {}')).toThrow('marked has another form')
})

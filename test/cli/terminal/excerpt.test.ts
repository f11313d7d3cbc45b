import { expect, it } from 'vitest'
import { fitExcerpt } from '../../../src/cli/terminal/excerpt.ts'

const code = `  agents: { say: agent({ run: () => { throw new Error('here') } }) }, // ${'and so on '.repeat(5)}`
const excerpt = (column: number) =>
  ['  1 | import { agent } from "agentserve"', `> 2 | ${code}`, `    | ${' '.repeat(column - 1)}^`, '  3 | })'].join(
    '\n',
  )

it('is as it is where nothing limits it', () => {
  expect(fitExcerpt(excerpt(40), undefined)).toBe(excerpt(40))
  expect(fitExcerpt(excerpt(40), 200)).toBe(excerpt(40))
})

it('cuts lines at the end of the terminal', () => {
  expect(fitExcerpt(excerpt(3), 30)).toBe(
    ['  1 | import { agent } from "…', '> 2 |   agents: { say: agent(…', '    |   ^', '  3 | })'].join('\n'),
  )
})

it.each([30, 40, 60])('keeps what the caret points at, in %i columns', (columns) => {
  const column = code.indexOf('throw') + 1
  const lines = fitExcerpt(excerpt(column), columns).split('\n')
  const at = lines[2]?.indexOf('^') ?? -1
  expect(lines[1]?.slice(at, at + 5)).toBe('throw')
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
})

it('keeps lines whose numbers differ in length below each other', () => {
  const lines = fitExcerpt(`   9 | a\n> 10 | ${'b'.repeat(40)}\n     | ^\n  11 | c`, 20).split('\n')
  expect(lines).toEqual(['   9 | a', `> 10 | ${'b'.repeat(12)}…`, '     | ^', '  11 | c'])
})

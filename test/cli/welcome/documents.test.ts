import { expect, it } from 'vitest'
import { summarise } from '../../../src/cli/welcome/documents.ts'

it('names files, counts folders, and says how many it leaves out', () => {
  expect(summarise(['README.md'], false)).toBe('Answers from 1 file: README.md')
  const sources = ['docs/b.md', 'docs/a/c.md', 'README.md', 'https://host.test/a']
  expect(summarise(sources, false)).toBe('Answers from 4 files: docs/ (2), README.md, https://host.test/a')
  const many = Array.from({ length: 9 }, (_, index) => `${index}.md`)
  expect(summarise(many, true)).toBe('Answers from more than 9 files: 0.md, 1.md, 2.md, 3.md, 4.md, 5.md, 3 more')
})

it('shows no control codes, and cuts long names', () => {
  expect(summarise([`a\u001b]0;title\u0007${'x'.repeat(200)}.md`], false)).toBe(
    `Answers from 1 file: a${'x'.repeat(79)}`,
  )
})

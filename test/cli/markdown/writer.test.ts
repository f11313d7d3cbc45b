import { expect, it } from 'vitest'
import { MarkdownWriter } from '../../../src/cli/markdown/writer.tsx'
import { paintFor } from '../../../src/cli/terminal/paint.ts'

const answer = `# Ports

The port
is **8080**.

- one
- two

~~~ts
const port = 8080
~~~
[1] docs/a.md:3
`

it.each([1, 3, 1000])('writes each block once, as one piece, when it comes in pieces of %d characters', (size) => {
  const writer = new MarkdownWriter({ columns: 80, paint: paintFor({}, {}) })
  const pieces = answer.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []
  const written = pieces.map((piece) => writer.push(piece)).join('') + writer.end()
  expect(written).toBe('Ports\n\nThe port is 8080.\n\n• one\n• two\n\n  const port = 8080\n\n[1] docs/a.md:3\n')
  expect(writer.end()).toBe('')
})

it('gives the lines of a block before the next one has ended', () => {
  const writer = new MarkdownWriter({ columns: 12, paint: paintFor({}, {}) })
  expect(writer.push('One two three four')).toBe('')
  expect(writer.push('\n\nnext\n')).toBe('One two\nthree four\n')
  expect(writer.end()).toBe('\nnext\n')
})

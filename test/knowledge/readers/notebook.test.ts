import { expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { placesOf, readerFixture } from '../../support/knowledge/readers.ts'

const read = (file: string) => readers.read({ content: readerFixture(`ipynb/${file}`), name: file })
const readText = (content: string) => readers.read({ content, name: 'a.ipynb' })

it('a notebook has its texts, its code with the language, and what the code has put out', async () => {
  const found = await read('jupyter.ipynb')
  expect(found).toMatchObject({
    reader: 'ipynb',
    chunker: 'markdown',
    metadata: { title: 'Lengths', programming_language: 'python' },
  })
  expect(found.text).toBe(`# Lengths

The sum of *lengths*:

\`\`\`python
lengths = [12, 7]
print(sum(lengths))
lengths
\`\`\`

\`\`\`
19
[12, 7]
\`\`\`

## Mean

\`\`\`python
sum(lengths) / 0
\`\`\`

\`\`\`
ZeroDivisionError: division by zero
\`\`\`
`)
  expect(placesOf(found, ['sum of', 'division'])).toEqual([['Lengths'], ['Lengths', 'Mean']])
})

it('a notebook of pandoc has neither outputs nor a language', async () => {
  expect((await read('pandoc.ipynb')).text).toMatch(
    /^# Lengths\n\nThe sum.*\n\n```\nlengths = [^`]*```\n\n## Mean\n\n```\n/,
  )
})

it('pictures, colours and traces of a notebook are left out, and an open fence ends with its cell', async () => {
  const found = await read('nbformat.ipynb')
  expect(found.text).toBe(`# Tides

![x](data:)

\`\`\`
left open
\`\`\`

\`\`\`r
plot(tides)
\`\`\`

\`\`\`
<plot>
high
low
Error: no tide
\`\`\`

## Notes

The moon pulls.

\`\`\`\`r
\`\`\`
odd
\`\`\`
\`\`\`\`

raw text
`)
  expect(placesOf(found, ['moon'])).toEqual([['Tides', 'Notes']])
})

it('a notebook of any shape is read as far as it goes, and its outputs are cut', async () => {
  const outputs = [{ output_type: 'stream', text: 'x'.repeat(50_000) }, 7, null]
  const { text } = await readText(
    JSON.stringify({ cells: [1, { cell_type: 'code', source: 3, outputs }, { source: ['a', 5] }] }),
  )
  expect(text).toBe(`\`\`\`\n${'x'.repeat(2_000)} …\n\`\`\`\n\na\n`)
  const old = {
    worksheets: [
      {
        cells: [
          { cell_type: 'heading', level: 2, source: 'Old' },
          { cell_type: 'code', input: 'x' },
        ],
      },
    ],
  }
  expect((await readText(JSON.stringify(old))).text).toBe('## Old\n\n```\nx\n```\n')
})

it.each([
  ['{"cells": [', "a.ipynb can't be read: the notebook is not JSON, or cut off."],
  ['['.repeat(100_000), "a.ipynb can't be read: the notebook is not JSON, or cut off."],
  ['{"a": 1}', "a.ipynb can't be read: it is JSON, but not a notebook: it has no cells."],
  ['{"cells": []}', "a.ipynb can't be read: the notebook has no text."],
])('what is no notebook is refused with the reason', async (content, message) => {
  await expect(readText(content)).rejects.toMatchObject({ code: 'unreadable_document', message })
})

import { afterAll, describe, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { placesOf, readerFixture } from '../../support/knowledge/readers.ts'

afterAll(() => readers.close())

const read = (file: string) => readers.read({ content: readerFixture(`pptx/${file}`), name: file })

describe('PowerPoint presentations', () => {
  it('have their slides in order, with titles, points, tables, columns and notes', async () => {
    const found = await read('pandoc.pptx')
    expect(found).toMatchObject({ reader: 'pptx', metadata: { title: 'Harbour talk', author: 'Ann Lee', slides: 4 } })
    expect(found.text).toBe(`# Harbour talk

Ann Lee

# Opening hours

- From six
- to ten
  - on Sundays to eight

Notes:
Say that the office closes for lunch.

# Fees

| Boat | Fee |
| --- | --- |
| Gull | 12 € |
| Tern | 7 € |

# Two columns

Left of it.

Right of it.

`)
  })

  it.each([
    ['pptxgenjs.pptx', ' '],
    ['libreoffice.pptx', '\n'],
  ])('name slides without a title by their number, and hidden ones: %s', async (file, between) => {
    const found = await read(file)
    expect(found.text).toBe(`# Opening hours

- From six
  - to ten & later

Notes:
Say that the office closes${between}for lunch.

# Slide 2

| Boat | Fee |
| --- | --- |
| Gull | 12 € |
| Tern \\| Skua | 7 € |

# # not a heading (hidden)

Only for the crew.

`)
    expect(placesOf(found, ['ten & later', 'Skua', 'crew'])).toEqual([
      [1, 'Opening hours'],
      [2, 'Slide 2'],
      [3, '# not a heading (hidden)'],
    ])
  })

  it('are cited by the slide and its title', async () => {
    expect(placesOf(await read('pandoc.pptx'), ['Sundays', 'lunch', 'Tern', 'Right of'])).toEqual([
      [2, 'Opening hours'],
      [2, 'Opening hours'],
      [3, 'Fees'],
      [4, 'Two columns'],
    ])
  })
})

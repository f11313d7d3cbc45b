import { afterAll, describe, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { zip } from '../../support/knowledge/files.ts'
import { placesOf, readerFixture } from '../../support/knowledge/readers.ts'

afterAll(() => readers.close())

const read = (file: string) => readers.read({ content: readerFixture(`odt/${file}`), name: file })

describe('OpenDocument texts', () => {
  it('have headings, lists, tables, and notes where they are referred to', async () => {
    const found = await read('pandoc.odt')
    expect(found).toMatchObject({ reader: 'odt', metadata: { title: 'The harbour book', author: 'Ann Lee; Bo Ek' } })
    expect(found.text.replaceAll(/\n +\n/g, '\n')).toBe(`# The harbour book

Ann Lee

Bo Ek

# Arriving

Call the harbour master on channel 12.

## At night

The light flashes twice. (Every ten seconds.)

| Light | Colour |
| --- | --- |
| Pier | red |

# Leaving

-   Pay the fee.
-   Untie the boat.
`)
    expect(placesOf(found, ['channel', 'red', 'Untie'])).toEqual([['Arriving'], ['Arriving', 'At night'], ['Leaving']])
  })

  it('keep spaces, line breaks and cells that span others', async () => {
    expect(await read('odfpy.odt')).toMatchObject({
      metadata: { title: 'Fees <2026>' },
      text: '## Fees & rates\n\nTwo spaces  \nnew line\n\n| Boat | Fee |\n| --- | --- |\n| Gull | 12 |\n| Prices are net |  |\n',
    })
  })

  it('keep nested lists, code and other alphabets', async () => {
    const { text } = await read('libreoffice.odt')
    expect(text.replaceAll(/\n +(?=\n)/g, '')).toBe(`# Rules of the pier

Keep clear of the crane.

-   No fires
    -   not even small ones
-   Dogs on a lead

| Hour | Gate |
| --- | --- |
| 6 | open |

## Größe über 20 m

Ask first. “Quoted” – 漢字, Привет 😀.

\`\`\`
knot(1)
  knot(2)
\`\`\`
`)
  })

  it('leave out what was deleted and comments, and describe pictures', async () => {
    const body = `<text:p>One <text:tracked-changes>gone</text:tracked-changes><office:annotation>aside</office:annotation>two
      <draw:frame><svg:desc>A tall mast</svg:desc></draw:frame></text:p><text:tracked-changes><text:p>old</text:p></text:tracked-changes>`
    const content = zip([
      { name: 'content.xml', content: `<d><office:body><office:text>${body}</office:text></office:body></d>` },
    ])
    expect((await readers.read({ content, name: 'a.odt' })).text).toBe('One two A tall mast\n')
  })
})

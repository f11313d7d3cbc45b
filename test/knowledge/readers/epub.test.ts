import { afterAll, describe, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { placesOf, readerFixture } from '../../support/knowledge/readers.ts'

afterAll(() => readers.close())

const read = (file: string) => readers.read({ content: readerFixture(`epub/${file}`), name: file })

describe('EPUB books', () => {
  it.each([['pandoc.epub'], ['pandoc-2.epub']])('are their chapters as Markdown: %s', async (file) => {
    const found = await read(file)
    const metadata = { title: 'The harbour book', author: 'Ann Lee, Bo Ek', language: 'en' }
    expect(found).toMatchObject({ reader: 'epub', chunker: 'markdown', metadata })
    expect(found.text).toBe(`# The harbour book

Ann Lee

Bo Ek

# Arriving

Call the **harbour master** on channel 12.

## At night

The light flashes twice.[1](#fn1)

| Light | Colour |
| --- | --- |
| Pier | red |

* * *

1.  Every ten seconds.[↩︎](#fnref1)

# Leaving

1.  Pay the fee.
2.  Untie the boat.
`)
    expect(placesOf(found, ['channel', 'red', 'Untie'])).toEqual([['Arriving'], ['Arriving', 'At night'], ['Leaving']])
  })

  it('follow the order of reading, and the contents name a chapter without a heading', async () => {
    const found = await read('ebooklib.epub')
    expect(found.metadata).toMatchObject({ title: 'Hafen & Meer', author: 'Bo Ek', language: 'de' })
    expect(found.text).toBe(
      '## Leinen los\n\nErst zahlen,  \ndann _ablegen_.\n\n# Ankunft\n\nRufen Sie Kanal 12. Ein Leuchtturm Er blinkt.\n',
    )
    expect(placesOf(found, ['ablegen', 'Leuchtturm'])).toEqual([['Leinen los'], ['Ankunft']])
  })

  it('keep code and notes of a book that Sphinx has made', async () => {
    const { text } = await read('sphinx.epub')
    expect(text).toContain(
      '# Fees\n\nA boat pays by its length.\n\n```python\nfee = 2 * length\n```\n\nNote\n\nCrews of less than two pay nothing.\n',
    )
  })
})

describe('XHTML', () => {
  it('closes empty elements, which HTML would leave open', async () => {
    const content =
      '<?xml version="1.0"?><html xmlns="x"><head><title/></head><body><a id="x"/><p>Text</p><br/>More</body></html>'
    const { text } = await readers.read({ content, name: 'a.xhtml' })
    expect(text).toBe('Text\n\n  \nMore\n')
  })
})

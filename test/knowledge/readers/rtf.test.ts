import { afterAll, describe, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { placesOf, readerFixture } from '../../support/knowledge/readers.ts'

afterAll(() => readers.close())

const read = (file: string) => readers.read({ content: readerFixture(`rtf/${file}`), name: file })
const textOf = async (content: string) => (await readers.read({ content, name: 'a.rtf' })).text

describe('RTF', () => {
  it('has headings, notes and tables', async () => {
    const found = await read('pandoc.rtf')
    expect(found).toMatchObject({ reader: 'rtf', chunker: 'markdown' })
    expect(found.text).toBe(`The harbour book

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

1\\. Pay the fee.

2\\. Untie the boat.
`)
    expect(placesOf(found, ['channel', 'red', 'Untie'])).toEqual([['Arriving'], ['Arriving', 'At night'], ['Leaving']])
  })

  it('knows headings by their styles, and characters by the charset of their font or by number', async () => {
    const found = await read('libreoffice.rtf')
    expect(found.metadata).toMatchObject({ title: 'Rules' })
    expect(found.text).toBe(`# Rules of the pier

Keep clear of the crane.

No fires

not even small ones

Dogs on a lead

| Hour | Gate |
| --- | --- |
| 6 | open |

## Größe über 20 m

Ask first. “Quoted” – 漢字, Привет 😀.

knot(1)

knot(2)
`)
    expect(placesOf(found, ['crane', 'Ask first'])).toEqual([
      ['Rules of the pier'],
      ['Rules of the pier', 'Größe über 20 m'],
    ])
  })

  it('keeps braces and backslashes, title and author', async () => {
    expect(await read('rtf-writer.rtf')).toMatchObject({
      metadata: { title: 'Fees', author: 'Bo Ek' },
      text: 'A boat {pays} by its length \\\\ width.\n\n| Boat | Fee |\n| --- | --- |\n| Gull | 12 € |\n\nGrüße, Привет\n',
    })
  })

  it('decodes code pages, and leaves out what is hidden, binary, of the program or for older ones', async () => {
    expect(await textOf("{\\rtf1\\ansi\\ansicpg1251 \\'cf\\'f0\\par}")).toBe('Пр\n')
    const fonts = '{\\fonttbl{\\f0\\fcharset204 A;}{\\f1\\fcharset128 B;}}'
    expect(await textOf(`{\\rtf1${fonts}\\f0 \\'cf\\f1 \\'83\\'65}`)).toBe('Пテ\n')
    expect(await textOf('{\\rtf1 a{\\v secret}b{\\*\\unknown x}c{\\pict ffd8}d\\bin3 }}}e}')).toBe('abcde\n')
    expect(await textOf("{\\rtf1\\uc2 \\u8364 Euo {\\uc0 \\u252}\\u-10179\\'3f?\\u-8704 ??}")).toBe('€o ü😀\n')
  })

  it('that ends too early is read as far as it goes', async () => {
    expect(await textOf('{\\rtf1 one\\par {\\b two')).toBe('one\n\ntwo\n')
    expect(await textOf('{\\rtf1 one\\bin99999999 two')).toBe('one\n')
  })
})

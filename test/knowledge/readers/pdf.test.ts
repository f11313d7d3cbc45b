import { afterAll, describe, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { createHyphens } from '../../../src/knowledge/readers/hyphens.ts'
import { linesOf, type PdfLine } from '../../../src/knowledge/readers/pdf-lines.ts'
import { pdfText } from '../../../src/knowledge/readers/pdf-text.ts'
import { placesOf, readerFixture } from '../../support/knowledge/readers.ts'

afterAll(() => readers.close())

const read = (file: string) => readers.read({ content: readerFixture(`pdf/${file}`), name: file })

describe('PDF files', () => {
  it.each(['chromium.pdf', 'libreoffice.pdf'])('of %s have headings by size and no running heads', async (file) => {
    const found = await read(file)
    expect(found).toMatchObject({ reader: 'pdf', chunker: 'markdown' })
    const headings = (found.outline ?? []).map(({ start, level, title }) => {
      expect(found.text.slice(start, start + title.length)).toBe(title)
      return `${level} ${title}`
    })
    expect(headings).toEqual([
      '1 Harbour handbook',
      '2 The harbour',
      '3 Fees',
      '2 The lamp',
      '3 Maintenance of the lens',
      '2 The tide',
    ])
    expect(found.text).not.toMatch(/edition 7|Page \d|^\d+(?: \/ \d+)?$/im)
    expect(placesOf(found, ['fourteen', 'paraffin', 'rotation', 'High water'])).toEqual([
      [3, 'Harbour handbook', 'The harbour', 'Fees'],
      [4, 'Harbour handbook', 'The lamp'],
      [5, 'Harbour handbook', 'The lamp', 'Maintenance of the lens'],
      [7, 'Harbour handbook', 'The tide'],
    ])
  })

  it('of pdfkit lose heads that differ from left to right, and the numbers of pages', async () => {
    const found = await read('pdfkit.pdf')
    expect(found.metadata).toMatchObject({ title: 'Harbour handbook', author: 'The keeper' })
    expect(found.text).not.toMatch(/edition 7|keepers of Skellig|^\d+$/m)
    expect(found.text.split('\n\n').slice(0, 4)).toEqual([
      'Harbour handbook',
      'The harbour',
      `The harbour of Skellig opens at six in the morning.
Boats that come later wait behind the northern
breakwater, where the administration has laid
twelve moorings. The well-
known entrance is open all year; the harbour-
master decides when the morning gun is fired.`,
      `Whoever moors without announcing it pays the extraordinary
fee. The administration
takes cash, and cards with a twenty-
five cent surcharge. An extraordinary meeting
is announced on the northern board.`,
    ])
    const last = found.pages?.length ?? 0
    expect(placesOf(found, ['The lamp, year 7'])).toEqual([[last, 'Harbour handbook', 'The lamp, year 7']])
  })

  it('of Chromium have words whole that are cut at the ends of lines', async () => {
    const { text } = await read('chromium.pdf')
    expect(text).toContain('documentation\nof arrivals')
    expect(text).toContain('harbour-\nmaster')
    expect(text).not.toMatch(/documenta-|[\u00ad]/)
  })
})

describe('words at the ends of lines', () => {
  const lines = [
    'a preview of the co-operative',
    'the harbour master re-enters',
    'the mainte-',
    'nance of main',
    'tenance',
  ]
  it.each([
    ['a pre-', 'view of it', 'a preview of it'],
    ['its docu\u00ad', 'ments, all', 'its documents, all'],
    ['the respon-', 'sibility', 'the responsibility'],
    ['of co-', 'operative banks', undefined],
    ['the harbour-', 'master', undefined],
    ['well-', 'ness', undefined],
    ['twenty-', 'five', undefined],
    ['fire-', 'station', undefined],
    ['chapter 1-', 'tion', undefined],
    ['New-', 'York', undefined],
  ])('of %s | %s become %s', (line, next, joined) => {
    const found = createHyphens(lines).join(line, next)
    expect(found?.join(' ').trim()).toBe(joined)
  })
})

describe('lines of pages', () => {
  const line = (text: string, at: number, size = 10): PdfLine => ({ text, at, size })
  const textOf = (pages: PdfLine[][]) => {
    const { text, pages: starts } = pdfText(pages)
    return starts.map((start, page) => text.slice(start, starts[page + 1]).trim())
  }

  it('that stand at the edge of too few pages, or say something new on each, stay', () => {
    const pages = ['one', 'two', 'three', 'four'].map((word, page) => [
      line(page < 2 ? 'A draft' : `About ${word}`, 700),
      line(`The text of ${word}.`, 680),
      line(String(10 * page * page + 7), 20),
    ])
    expect(textOf(pages)).toEqual([
      'A draft\n\nThe text of one.\n\n7',
      'A draft\n\nThe text of two.\n\n17',
      'About three\n\nThe text of three.\n\n47',
      'About four\n\nThe text of four.\n\n97',
    ])
  })

  it('that are large are a heading on every page, and in one of large letters none is', () => {
    const slides = ['one', 'two', 'three'].map((word) => [
      line('Results', 500, 24),
      line(`${word} of them `.repeat(9), 400, 12),
    ])
    expect(textOf(slides)[2]).toMatch(/^Results\n\nthree/)
    const large = [[line('A poster in large letters', 500, 40), line('with a little print', 100, 8)]]
    expect(pdfText(large).outline).toEqual([])
  })

  it('of the contents are left out where they repeat what the document has, and are no headings', () => {
    const contents = [
      line('Contents', 700, 20),
      line('1 The harbour . . . . . . . . . . 2', 680, 14),
      line('1.1 Who may moor in the administra-', 660),
      line('1.2 Moorings of the northern breakwater ........ ii', 640),
      line('Coffee . . . . . . . 3', 600),
    ]
    const text = [
      line('1 The harbour', 700, 20),
      line('It opens at six. '.repeat(9), 680),
      line('1.2. Moorings of the northern break-', 620, 20),
      line('water', 600, 20),
      line('The breakwater is closed.', 580),
    ]
    const found = pdfText([contents, text])
    expect(found.outline.map(({ title }) => title)).toEqual([
      'Contents',
      '1 The harbour',
      '1.2. Moorings of the northern breakwater',
    ])
    const lines = found.text.split('\n').filter((each) => each !== '')
    expect(lines.slice(0, 4)).toEqual([
      'Contents',
      '1.1 Who may moor in the administra-',
      'Coffee . . . . . . . 3',
      '1 The harbour',
    ])
  })

  it('are told apart by their ends, with the size of most letters', () => {
    const item = (str: string, height: number, hasEOL = false) => ({
      str,
      height,
      hasEOL,
      transform: [1, 0, 0, 1, 30, 99],
    })
    expect(linesOf([item('A', 30), item('long line', 11.1), item('', 0, true), item('next', 11)])).toEqual([
      { text: 'Along line', size: 11, at: 99 },
      { text: 'next', size: 11, at: 99 },
    ])
  })
})

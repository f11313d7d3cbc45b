import { afterAll, describe, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { zip } from '../../support/knowledge/files.ts'
import { placesOf, readerFixture } from '../../support/knowledge/readers.ts'

afterAll(() => readers.close())

const read = (file: string) => readers.read({ content: readerFixture(`xlsx/${file}`), name: file })

describe('Excel workbooks', () => {
  it.each([
    ['openpyxl.xlsx', '=SUM(C2:C3)'],
    ['libreoffice.xlsx', '12.8'],
  ])('have a line for each row that names its values, sheet by sheet: %s', async (file, sum) => {
    const found = await read(file)
    expect(found).toMatchObject({
      reader: 'xlsx',
      metadata: { title: 'Harbour fees', author: 'Ann Lee', sheets: ['Fees', 'Share | rates', 'Notes', 'Empty'] },
    })
    expect(found.text.split('\n')).toEqual([
      '# Fees',
      '',
      'Boat; Arrived; Fee; Paid',
      'Boat: Gull & Tern; Arrived: 2026-03-01; Fee: 12.5; Paid: TRUE',
      'Boat: Møwe <2>; Arrived: 2026-03-02 14:30; Fee: 0.3; Paid: FALSE',
      `Boat: Line break; Fee: ${sum}`,
      '',
      '# Share | rates',
      '',
      'Rates of 2026',
      'Kind; 2025; 2026',
      'Kind: Sail; 2025: 5%; 2026: 7.5%',
      '',
      '# Notes (hidden)',
      '',
      'The key hangs behind the door.',
      '',
      '',
    ])
  })

  it('are cited by the sheet, and no chunk lies in two', async () => {
    const places = placesOf(await read('openpyxl.xlsx'), ['Tern', 'Sail', 'behind the door'], 5_000)
    expect(places).toEqual([['Fees'], ['Share | rates'], ['Notes (hidden)']])
  })

  it('show dates of 1904, times, durations, joined runs, errors and cached values of formulas', async () => {
    expect((await read('xlsxwriter.xlsx')).text.split('\n').slice(2, 6)).toEqual([
      'Day; High water; Open for; Remark',
      'Day: 2026-11-23; High water: 06:12; Open for: 30:00; Remark: Mind the swell outside',
      'Open for: #DIV/0!; Remark: low water',
      'Day: Times are local',
    ])
  })

  it('show links by their text, other alphabets and very hidden sheets', async () => {
    expect((await read('exceljs.xlsx')).text).toBe(
      [
        '# Berths\n',
        'Berth; Length; Free from',
        'Berth: A1; Length: 12; Free from: 2026-12-24',
        'Berth: A2; Length: 24; Free from: ask',
        'Berth: Крым 日本; Length: 7.25\n',
        '# Secret (hidden)\n',
        'The berth B9 is kept free.\n\n',
      ].join('\n'),
    )
  })

  it('are found by their content, whatever they are called', async () => {
    const content = readerFixture('xlsx/exceljs.xlsx')
    expect((await readers.read({ content, name: 'a.docx' })).reader).toBe('xlsx')
    expect((await readers.read({ content, name: 'a.txt', mediaType: 'text/plain' })).reader).toBe('xlsx')
  })

  it('are read without rows, references, styles and relations that are missing', async () => {
    const parts = [
      {
        name: 'xl/workbook.xml',
        content: '<workbook><sheets><sheet name="A" r:id="r1"/><sheet name="B"/></sheets></workbook>',
      },
      {
        name: 'xl/_rels/workbook.xml.rels',
        content: '<R><Relationship Id="r1" Type="x/worksheet" Target="/xl/a.xml"/></R>',
      },
      {
        name: 'xl/a.xml',
        content:
          '<worksheet><row><c><v>1</v></c><c t="s"><v>9</v></c><c s="5"><v>2</v></c><c t="inlineStr"><is><t>x</t></is></c></row></worksheet>',
      },
    ]
    expect((await readers.read({ content: zip(parts), name: 'a.xlsx' })).text).toBe('# A\n\n1; 2; x\n\n')
  })
})

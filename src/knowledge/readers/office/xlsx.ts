import type { Heading } from '../../../core/knowledge/drivers.ts'
import { assertLength, Unreadable } from '../markup/unreadable.ts'
import { attributesOf, elements, findAll, scanXml } from '../markup/xml.ts'
import type { Found } from '../reader.ts'
import { numberFormats } from './cell-format.ts'
import { coreProperties, nodePart, oneLine, relationsOf, xmlPart } from './parts.ts'
import { type SheetCell, type SheetRow, sheetLines } from './sheet-lines.ts'
import type { Archive } from './zip.ts'

const workbookPart = 'xl/workbook.xml'
const maxColumns = 16_384

/** A section for each sheet, with a line for each row: `column: value; column: value` when it has a head. */
export async function readXlsx(archive: Archive): Promise<Found> {
  const workbook = nodePart(archive, workbookPart)
  const relations = relationsOf(archive, workbookPart)
  const targets = [...relations.values()]
  const partOf = (kind: string, usual: string) => targets.find((relation) => relation.kind === kind)?.target ?? usual
  const strings = sharedStrings(xmlPart(archive, partOf('sharedStrings', 'xl/sharedStrings.xml')) ?? '')
  const starts1904 = findAll(workbook, 'workbookPr').some(({ attributes }) =>
    /^(1|true)$/.test(attributes.date1904 ?? ''),
  )
  const show = numberFormats(nodePart(archive, partOf('styles', 'xl/styles.xml')), starts1904)
  const outline: Heading[] = []
  const names: string[] = []
  let text = ''
  for (const { attributes } of elements(elements(workbook, 'sheets')[0], 'sheet')) {
    const { kind, target } = relations.get(attributes['r:id'] ?? '') ?? {}
    const xml = kind === 'worksheet' && target !== undefined ? xmlPart(archive, target) : undefined
    if (xml === undefined) continue
    const name = oneLine(attributes.name ?? '')
    names.push(name)
    const lines = sheetLines(rowsOf(xml, strings, show))
    if (lines.length === 0) continue
    const title = attributes.state === undefined || attributes.state === 'visible' ? name : `${name} (hidden)`
    outline.push({ start: text.length, level: 1, title })
    text += `# ${title}\n\n${lines.join('\n')}\n\n`
  }
  if (text === '') throw new Unreadable('its sheets have no text')
  return { text, start: 0, metadata: { ...coreProperties(archive), sheets: names }, chunker: 'code', outline }
}

/** The texts that cells refer to by number; runs are joined and readings of Chinese characters left out. */
function sharedStrings(xml: string): string[] {
  const strings: string[] = []
  let reading = 0
  let isText = false
  scanXml(xml, {
    open(name) {
      if (name === 'si') strings.push('')
      if (name === 'rPh') reading++
      isText = name === 't'
    },
    close(name) {
      if (name === 'rPh') reading--
      isText = false
    },
    text(text) {
      if (isText && reading === 0 && strings.length > 0) strings[strings.length - 1] += text
    },
  })
  return strings
}

function rowsOf(xml: string, strings: readonly string[], show: (value: string, style: number) => string): SheetRow[] {
  const rows: SheetRow[] = []
  let row: SheetRow = []
  let cell: { column: number; type: string; style: number; value: string; formula: string } | undefined
  let into: 'value' | 'formula' | undefined
  let column = 0
  let characters = 0
  const finished = ({ column, type, style, value, formula }: NonNullable<typeof cell>): SheetCell => {
    const isNumber = type === '' || type === 'n'
    if (value === '' && formula !== '') return { column, text: `=${formula}`, isNumber: true }
    if (type === 's') return { column, text: escaped(strings[Number(value)] ?? ''), isNumber: false }
    if (type === 'b') return { column, text: value === '1' ? 'TRUE' : 'FALSE', isNumber: true }
    return { column, text: isNumber ? show(value, style) : escaped(value), isNumber }
  }
  scanXml(xml, {
    open(name, written) {
      if (name === 'row') {
        row = []
        column = 0
      } else if (name === 'c') {
        const { r = '', t = '', s = '0' } = attributesOf(written)
        column = columnOf(r) ?? column
        cell = { column, type: t, style: Number(s), value: '', formula: '' }
        column++
      } else if (name === 'v' || name === 't') into = 'value'
      else if (name === 'f') into = 'formula'
      else if (name === 'rPh') into = undefined
    },
    close(name) {
      if (name === 'c' && cell) {
        const done = finished(cell)
        if (done.text.trim() !== '' && done.column < maxColumns) row.push(done)
        characters += done.text.length
        assertLength(characters)
        cell = undefined
      } else if (name === 'row') rows.push(row)
      into = undefined
    },
    text(text) {
      if (cell && into) cell[into] += text
    },
  })
  return rows
}

/** 0 for `A1`, 27 for `AB3`. */
function columnOf(reference: string): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0]
  if (letters === undefined) return undefined
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

/** Excel writes characters that XML can't have as `_x000D_`. */
function escaped(text: string): string {
  return text.replace(/_x([\dA-F]{4})_/g, (_whole, code) => String.fromCharCode(Number.parseInt(code, 16)))
}

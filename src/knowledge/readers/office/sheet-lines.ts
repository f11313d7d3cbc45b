import { isHead, namedValue } from '../markup/record.ts'
import { oneLine } from './parts.ts'

export interface SheetCell {
  /** From 0. */
  column: number
  text: string
  isNumber: boolean
}

/** The cells that are not empty. */
export type SheetRow = SheetCell[]

/**
 * One line a row. The first row of different words that is as wide as what follows is the head: from there on each value
 * is named by its column. What stands above it, such as a title, stays as it is.
 */
export function sheetLines(rows: readonly SheetRow[]): string[] {
  const filled = rows
    .map((row) => row.map((cell) => ({ ...cell, text: oneLine(cell.text) })).filter(({ text }) => text !== ''))
    .filter((row) => row.length > 0)
  const at = filled.findIndex((row) => row.length > 1)
  const head = filled[at]
  const isTable = head !== undefined && at < filled.length - 1 && isHeadRow(head)
  const names = new Map(isTable ? head.map(({ column, text }) => [column, text]) : [])
  return filled.map((row, index) =>
    row.map(({ column, text }) => (index > at ? namedValue(names.get(column), text) : text)).join('; '),
  )
}

/** Years and the like may be columns too, beside words. */
function isHeadRow(row: SheetRow): boolean {
  const words = row.filter(({ isNumber }) => !isNumber).map(({ text }) => text)
  const isYear = ({ isNumber, text }: SheetCell) => !isNumber || /^(19|20)\d\d(-\d\d){0,2}$/.test(text)
  return (
    isHead(words) && words.length > 0 && row.every(isYear) && new Set(row.map(({ text }) => text)).size === row.length
  )
}

import stringWidth from 'string-width'
import { terminalLine } from './text.ts'

/** Narrower than this a cell says nothing. */
const minWidth = 8

/** What a table on stdout has to fit into; undefined where it goes to a file or a pipe. */
export function tableColumns(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined
}

/**
 * Rows under a head, columns as wide as their widest cell. Where that is wider than `columns` the widest are cut, but never
 * the first, which says which row it is; where even that is too wide each row becomes a list. Cells are made safe for the
 * terminal.
 */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns = tableColumns(),
): string {
  const cells = [head, ...rows.map((row) => row.map(terminalLine))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => stringWidth(row[column] ?? ''))))
  if (columns !== undefined && !shrink(widths, columns)) return formatLists(head, cells.slice(1), columns)
  const lines = cells.map((row) =>
    row
      .map((cell, column) => pad(cut(cell, widths[column] ?? 0), widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

/** Cuts what does not fit, with an ellipsis in the last place. */
export function cut(text: string, width: number): string {
  if (text.length <= width && stringWidth(text) <= width) return text
  let short = ''
  let left = width - 1
  for (const { segment } of graphemes.segment(text)) {
    left -= stringWidth(segment)
    if (left < 0) break
    short += segment
  }
  return `${short}…`
}

const graphemes = new Intl.Segmenter()

function shrink(widths: number[], columns: number): boolean {
  let surplus = widths.reduce((sum, width) => sum + width + 2, -2) - columns
  while (surplus > 0) {
    const widest = Math.max(...widths.slice(1))
    const place = widths.indexOf(widest, 1)
    if (!(widest > minWidth)) return false
    const next = Math.max(minWidth, ...widths.slice(1).filter((width) => width < widest))
    const less = Math.min(surplus, widest - next)
    widths[place] = widest - less
    surplus -= less
  }
  return true
}

function formatLists(head: readonly string[], rows: readonly (readonly string[])[], columns: number): string {
  const lists = rows.map((row) =>
    row
      .map((cell, place) => (place === 0 ? cell : cut(`  ${head[place]?.toLowerCase()}: ${cell}`, columns)))
      .join('\n'),
  )
  return lists.map((list) => `${list}\n`).join('')
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - stringWidth(cell)))
}

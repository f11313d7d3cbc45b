import stringWidth from 'string-width'
import { terminalLine } from './text.ts'

const minWidth = 8

/** The columns of the terminal on stdout; undefined when it is a file or a pipe. */
export function tableColumns(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined
}

/**
 * Rows under a head. When the table is wider than `columns`, it leaves out columns in which no row has anything, and cuts the
 * widest ones, except the first, which names the row, and those that `whole` names. When it still does not fit, each row becomes
 * a list. Makes cells safe for the terminal.
 */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns = tableColumns(),
  whole: readonly string[] = [],
): string {
  let cells = [[...head], ...rows.map((row) => row.map(terminalLine))]
  let widths = widthsOf(cells)
  if (columns !== undefined && surplusOf(widths, columns) > 0) {
    cells = withoutEmpty(cells)
    widths = widthsOf(cells)
    const [shown = [], ...others] = cells
    const mayCut = shown.map((name, place) => place > 0 && !whole.includes(name))
    if (!shrink(widths, columns, mayCut)) return formatLists(shown, others, columns)
  }
  const lines = cells.map((row) =>
    row
      .map((cell, column) => pad(cut(cell, widths[column] ?? 0), widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

function cut(text: string, width: number): string {
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

function widthsOf(cells: readonly (readonly string[])[]): number[] {
  return (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => stringWidth(row[column] ?? ''))))
}

function withoutEmpty(cells: readonly string[][]): string[][] {
  const [head = [], ...rows] = cells
  const hasSome = head.map((_, column) => column === 0 || rows.some((row) => !/^-?$/.test(row[column] ?? '')))
  return cells.map((row) => row.filter((_, column) => hasSome[column]))
}

function surplusOf(widths: readonly number[], columns: number): number {
  return widths.reduce((sum, width) => sum + width + 2, -2) - columns
}

const graphemes = new Intl.Segmenter()

function shrink(widths: number[], columns: number, mayCut: readonly boolean[]): boolean {
  let surplus = surplusOf(widths, columns)
  while (surplus > 0) {
    const cuttable = widths.filter((_, place) => mayCut[place])
    const widest = Math.max(...cuttable)
    const place = widths.findIndex((width, at) => mayCut[at] && width === widest)
    if (!(widest > minWidth)) return false
    const next = Math.max(minWidth, ...cuttable.filter((width) => width < widest))
    const less = Math.min(surplus, widest - next)
    widths[place] = widest - less
    surplus -= less
  }
  return true
}

function formatLists(head: readonly string[], rows: readonly (readonly string[])[], columns: number): string {
  const nameOf = (place: number) => head[place]?.toLowerCase()
  // A number says nothing alone.
  const titleOf = (cell: string) => (/^\d+$/.test(cell) ? `${nameOf(0)} ${cell}` : cell)
  const lists = rows.map(([title = '', ...cells]) => {
    const lines = cells.flatMap((cell, place) => (cell === '' ? [] : [cut(`  ${nameOf(place + 1)}: ${cell}`, columns)]))
    return [titleOf(title), ...lines].join('\n')
  })
  return lists.map((list) => `${list}\n`).join('')
}

export function pad(cell: string, width: number, align: 'left' | 'right' | 'center' = 'left'): string {
  const missing = Math.max(0, width - stringWidth(cell))
  const before = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0
  return ' '.repeat(before) + cell + ' '.repeat(missing - before)
}

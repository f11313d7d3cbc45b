import { type Inline, readInline } from './inline.ts'
import { interrupts, isBlank } from './lines.ts'

export interface Table {
  type: 'table'
  align: ('left' | 'center' | 'right' | undefined)[]
  head: Inline[][]
  rows: Inline[][][]
}

const ruler = /^ {0,3}(?=.*[|:])\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/
/** HTML is no row. */
const tag = /^ {0,3}<[^|]*$/
/** A source below a table, as `[1] docs/a.md:12`, is no row either. */
const citation = /^\[\d+\] [^|]*$/
/** Cells that are added to short rows, in a table: a thousand columns and rows of one letter are a million. */
const mostAdded = 1000

/** The lines of a table: its head, and where it ends. */
export function startsTable(lines: readonly string[], at: number): boolean {
  const under = lines[at + 1] ?? ''
  return ruler.test(under) && cellsOf(under).length === cellsOf(lines[at] ?? '').length
}

export function tableAt(lines: readonly string[], at: number): { block: Table; end: number } | undefined {
  if (!startsTable(lines, at)) return undefined
  const head = cellsOf(lines[at] ?? '')
  const rows: string[][] = []
  let added = 0
  let end = at + 2
  for (; end < lines.length; end++) {
    const line = lines[end] ?? ''
    if (isBlank(line) || interrupts(line) || tag.test(line) || citation.test(line)) break
    const cells = cellsOf(line).slice(0, head.length)
    for (; cells.length < head.length && added < mostAdded; added++) cells.push('')
    rows.push(cells)
  }
  const align = cellsOf(lines[at + 1] ?? '').map((cell) =>
    cell.endsWith(':') ? (cell.startsWith(':') ? 'center' : 'right') : cell.startsWith(':') ? 'left' : undefined,
  )
  return {
    block: { type: 'table', align, head: head.map(readInline), rows: rows.map((row) => row.map(readInline)) },
    end,
  }
}

function cellsOf(line: string): string[] {
  const cells = line.trim().split(/(?<!\\)\|/)
  if (cells[0] === '') cells.shift()
  if (cells.at(-1) === '') cells.pop()
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'))
}

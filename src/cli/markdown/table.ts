import stringWidth from 'string-width'
import type { Table } from '../../core/markdown/markdown.ts'
import type { Paint } from '../terminal/paint.ts'
import { pad } from '../terminal/table.ts'
import { formatInline } from './inline.ts'
import { widestOf } from './wrapping.ts'

/** A table when its columns fit side by side; else each row as a list of `head: cell`. */
export function formatMarkdownTable(table: Table, columns: number, paint: Paint): string {
  const head = table.head.map((cell) => paint.bold(formatInline(cell, paint)))
  const rows = table.rows.map((row) => row.map((cell) => formatInline(cell, paint)))
  const widths = head.map((_, place) => Math.max(...[head, ...rows].map((row) => stringWidth(row[place] ?? ''))))
  const widest = head.map((_, place) => Math.max(...[head, ...rows].map((row) => widestOf(row[place] ?? ''))))
  const total = widest.reduce((sum, width) => sum + width, 3 * (widths.length - 1))
  if (total > columns && rows.length === 0) return head.join('\n')
  if (total > columns) {
    return rows.map((row) => row.map((cell, place) => `${head[place] ?? ''}: ${cell}`).join('\n')).join('\n\n')
  }
  const line = (row: readonly string[]) =>
    row.map((cell, place) => pad(cell, widths[place] ?? 0, table.align[place] ?? 'left')).join(' │ ')
  const rule = widths.map((width) => '─'.repeat(width)).join('─┼─')
  return [line(head), rule, ...rows.map(line)].join('\n')
}

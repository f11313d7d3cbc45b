import type { Tokens } from 'marked'
import stringWidth from 'string-width'
import type { Paint } from '../terminal/paint.ts'
import { pad } from '../terminal/table.ts'
import { formatInline } from './inline.ts'
import { widestOf } from './joined.ts'

/** A table when its columns fit side by side; else each row as a list of `head: cell`. */
export function formatMarkdownTable(table: Tokens.Table, columns: number, paint: Paint): string {
  const head = table.header.map(({ tokens }) => paint.bold(formatInline(tokens, paint)))
  const rows = table.rows.map((row) => row.map(({ tokens }) => formatInline(tokens, paint)))
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

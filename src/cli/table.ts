import { terminalLine } from './terminal-text.ts'

/** Rows under a head, columns as wide as their widest cell. Cells are made safe for the terminal. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(terminalLine))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

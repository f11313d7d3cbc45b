import { oneLine } from './parts.ts'

/** A table in Markdown; its first row is the head. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0)
  if (width === 0) return []
  const lines = rows.map((row) => {
    const cells = row.map((cell) => oneLine(cell).replaceAll('|', '\\|'))
    return `| ${[...cells, ...Array<string>(width - row.length).fill('')].join(' | ')} |`
  })
  return [...lines.slice(0, 1), `|${' --- |'.repeat(width)}`, ...lines.slice(1)]
}

import { isHead, namedValue } from './markup/record.ts'
import { afterRecord } from './part-ends.ts'
import type { Found, TextReader } from './reader.ts'

interface Row {
  record: string[]
  /** The line it ends on, from 1. */
  line: number
}

/**
 * Each record as `column: value; column: value` on the line where the file has it, so that every chunk names its
 * values. A table without a head, or a file that is not a table, stays as written.
 */
export const tableReader: TextReader = {
  name: 'table',
  mediaTypes: ['text/csv', 'text/tab-separated-values'],
  extensions: ['.csv', '.tsv'],
  partEnd: afterRecord,
  async read(text, _name, before) {
    const asWritten: Found = { text, start: 0, metadata: {}, chunker: 'code', reading: before ?? {} }
    const { columns: known, rows: earlier, delimiter = delimiterOf(text) } = before ?? {}
    if (before && !Array.isArray(known)) return asWritten
    const rows = await rowsOf(text, String(delimiter))
    const columns = Array.isArray(known) ? known.map(String) : rows?.[0]?.record
    if (!rows || !columns || (!before && (rows.length < 2 || !isHead(columns)))) return asWritten
    const metadata = { columns, rows: before ? Number(earlier) + rows.length : rows.length - 1 }
    return {
      text: withColumns(rows, columns, before === undefined),
      start: 0,
      metadata,
      chunker: 'code',
      reading: { ...metadata, delimiter },
      lines: text.split('\n').length - 1,
    }
  },
}

async function rowsOf(text: string, delimiter: string): Promise<Row[] | undefined> {
  const { parse } = await import('csv-parse/sync')
  try {
    const found = parse(text, {
      delimiter,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as { record: string[]; info: { lines: number } }[]
    return found.map(({ record, info }) => ({ record, line: info.lines }))
  } catch {
    return undefined
  }
}

function delimiterOf(text: string): string {
  const newline = text.indexOf('\n')
  const head = text.slice(0, newline === -1 ? text.length : newline).replace(/"[^"]*"/g, '')
  const counted = ['\t', ',', ';', '|'].map((delimiter) => [delimiter, head.split(delimiter).length] as const)
  return counted.reduce((best, each) => (each[1] > best[1] ? each : best))[0]
}

function withColumns(rows: readonly Row[], columns: readonly string[], hasHead: boolean): string {
  const parts: string[] = []
  let line = 1
  for (const [at, { record, line: endLine }] of rows.entries()) {
    const values = record.map((value) => value.replace(/\r\n?/g, '\n'))
    const text =
      at === 0 && hasHead
        ? values.join('; ')
        : values
            .map((value, column) => namedValue(columns[column], value))
            .filter((each) => each !== '')
            .join('; ')
    const height = text.split('\n').length - 1
    const missing = Math.max(0, endLine - height - line)
    parts.push('\n'.repeat(missing), text, '\n')
    line += missing + height + 1
  }
  return parts.join('')
}

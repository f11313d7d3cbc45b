const columns = ['chunk', 'generation'] as const
const largest = 2 ** 31 - 1

/** The only place that writes a LanceDB filter: a known column and whole numbers, never text. */
export function whereIn(column: (typeof columns)[number], values: readonly number[]): string {
  if (!columns.includes(column)) throw new TypeError(`no column ${String(column)}`)
  if (values.length === 0) return 'false'
  for (const value of values) {
    if (!Number.isSafeInteger(value) || value < 0 || value > largest) throw new TypeError(`no key: ${String(value)}`)
  }
  return `${column} IN (${values.join(', ')})`
}

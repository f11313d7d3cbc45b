const columns = ['chunk', 'generation'] as const
const largest = 2 ** 31 - 1

/* The only place that writes LanceDB filters: a known column and whole numbers, never text. */

export function whereIn(column: (typeof columns)[number], values: readonly number[]): string {
  assertKeys(column, values)
  return values.length === 0 ? 'false' : `${column} IN (${values.join(', ')})`
}

export function whereBetween(column: (typeof columns)[number], first: number, last: number): string {
  assertKeys(column, [first, last])
  return `${column} >= ${first} AND ${column} <= ${last}`
}

function assertKeys(column: (typeof columns)[number], values: readonly number[]): void {
  if (!columns.includes(column)) throw new TypeError(`no column ${String(column)}`)
  for (const value of values) {
    if (!Number.isSafeInteger(value) || value < 0 || value > largest) throw new TypeError(`no key: ${String(value)}`)
  }
}

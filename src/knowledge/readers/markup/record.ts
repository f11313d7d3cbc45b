/** Whether a row names columns: different words, not numbers. */
export function isHead(columns: readonly string[]): boolean {
  const names = columns.map((column) => column.trim())
  return new Set(names).size === names.length && names.every((name) => name !== '' && !/^[-+\d.,\s%$€]+$/.test(name))
}

/** `column: value`, so that every row of a table names its values; '' without a value. */
export function namedValue(column: string | undefined, value: string): string {
  if (value.trim() === '') return ''
  return column === undefined ? value : `${column.trim()}: ${value}`
}

import type { Writing } from './shrinking.ts'

const pagesAtOnce = 64

/**
 * A deleted row only gets a mark in an FTS5 index; its words leave the file when the parts that hold them are merged. Does one
 * step of that, the first when `begin` is set; false when there is nothing left to merge.
 */
export async function mergeStep(writing: Writing, table: string, begin: boolean): Promise<boolean> {
  const before = await totalChanges(writing)
  await writing.all(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', ${begin ? -pagesAtOnce : pagesAtOnce})`)
  return begin || (await totalChanges(writing)) - before >= 2
}

async function totalChanges(writing: Writing): Promise<number> {
  const [row] = await writing.all('SELECT total_changes() AS changes')
  return Number(row?.changes)
}

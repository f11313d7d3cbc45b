import type { Writing } from './shrinking.ts'

const pagesAtOnce = 64

/**
 * FTS5 only marks a deleted row; its words leave the file when its segments are merged. Runs one step of that merge, the first
 * one with `begin`. Returns false when nothing is left to merge.
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

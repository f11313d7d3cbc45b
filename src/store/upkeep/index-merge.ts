import type { WriteConnection } from './shrinking.ts'

const pagesAtOnce = 64

/** One merge step (`begin`: the first): it removes words of deleted rows, which FTS5 only marks. False: done. */
export async function mergeStep(writer: WriteConnection, table: string, begin: boolean): Promise<boolean> {
  const before = await totalChanges(writer)
  await writer.all(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', ${begin ? -pagesAtOnce : pagesAtOnce})`)
  return begin || (await totalChanges(writer)) - before >= 2
}

async function totalChanges(writer: WriteConnection): Promise<number> {
  const [row] = await writer.all('SELECT total_changes() AS changes')
  return Number(row?.changes)
}

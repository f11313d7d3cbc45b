import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A table of this size is rewritten in a moment; a larger one waits for more deletions. */
const smallRows = 50_000
const largeWaitMs = 12 * 60 * 60 * 1000

/** Whether to rewrite a table to remove deleted rows: LanceDB only marks them, and compaction may keep them. */
export async function mustRewrite(tableFolder: string, rows: number): Promise<boolean> {
  const notes = join(tableFolder, '_deletions')
  const names = await readdir(notes).catch(() => [])
  if (names.length === 0 || rows < smallRows) return names.length > 0
  const times = await Promise.all(names.map((name) => stat(join(notes, name)).then(({ mtimeMs }) => mtimeMs)))
  return Math.min(...times) < Date.now() - largeWaitMs
}

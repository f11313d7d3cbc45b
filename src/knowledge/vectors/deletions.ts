import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A table of so many rows is written anew in a moment; a larger one waits, so that it is not done after each delete. */
const smallRows = 50_000
const largeWaitMs = 12 * 60 * 60 * 1000

/**
 * Whether deleted rows of a LanceDB table are still in its files and it is time to take them out: LanceDB only notes them
 * beside the rows, and joining files leaves them in where they are few.
 */
export async function mustRewrite(tableFolder: string, rows: number): Promise<boolean> {
  const notes = join(tableFolder, '_deletions')
  const names = await readdir(notes).catch(() => [])
  if (names.length === 0 || rows < smallRows) return names.length > 0
  const times = await Promise.all(names.map((name) => stat(join(notes, name)).then(({ mtimeMs }) => mtimeMs)))
  return Math.min(...times) < Date.now() - largeWaitMs
}

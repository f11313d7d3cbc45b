import { copyFile, mkdir, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { documentsDatabase } from '../../src/store/documents/database.ts'
import { sessionsDatabase } from '../../src/store/sessions/sqlite/schema/database.ts'
import { openDatabase } from '../../src/store/sqlite/open-database.ts'

const kinds = { sessions: sessionsDatabase, documents: documentsDatabase }
const made = new Map<string, Promise<string>>()

/**
 * Puts an empty database of the present version at this path and gives the path. A copy takes a tenth of the time of the
 * migrations, which have tests of their own.
 */
export async function emptyDatabase(kind: keyof typeof kinds, path: string): Promise<string> {
  const source = made.get(kind) ?? make(kind)
  made.set(kind, source)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await copyFile(await source, path)
  return path
}

/** Kept for the whole run of the tests, whose folder goes at its end. */
async function make(kind: keyof typeof kinds): Promise<string> {
  const path = join(tmpdir(), 'databases', `${kind}.db`)
  const own = `${path}-${process.pid}`
  await (await openDatabase(own, kinds[kind])).close()
  await rename(own, path)
  return path
}

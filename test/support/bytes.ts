import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files below a folder in which this text, or these bytes, are found, wherever they stand. */
export async function filesWith(folder: string, text: string | Buffer): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    if (bytes.includes(text)) found.push(path.slice(folder.length + 1))
  }
  return found.sort()
}

import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { copyBytes, copyFile } from './file-copy.ts'
import { assertSpace } from './space.ts'

const keptMs = 7 * 24 * 60 * 60 * 1000

/** Keeps a copy as `<file>.version-<version>`, replacing earlier ones. Throws `storage_full`, changing nothing. */
export async function keepVersion(path: string, version: number): Promise<void> {
  await assertSpace(dirname(path), await copyBytes(path), `The copy of '${path}' before its update`)
  const copy = `${path}.version-${version}`
  const part = `${copy}.part`
  await rm(part, { force: true })
  try {
    await copyFile(path, part)
    await rename(part, copy)
  } finally {
    await rm(part, { force: true })
  }
  for (const other of await copiesOf(path)) if (other !== copy) await rm(other)
}

/** Deletes copies that are older than a week, and partial copies of a killed process. */
export async function removeOldVersions(path: string): Promise<void> {
  for (const copy of await copiesOf(path)) {
    const { mtimeMs } = await stat(copy)
    if (copy.endsWith('.part') || mtimeMs < Date.now() - keptMs) await rm(copy, { force: true })
  }
}

async function copiesOf(path: string): Promise<string[]> {
  const prefix = `${basename(path)}.version-`
  const names = await readdir(dirname(path))
  const copies = names.filter((name) => name.startsWith(prefix) && /^\d+(\.part)?$/.test(name.slice(prefix.length)))
  return copies.map((name) => join(dirname(path), name))
}

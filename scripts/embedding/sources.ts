import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A package whose documentation teaches the table, as sources.json pins it. */
export interface Source {
  name: string
  kind: 'deb' | 'npm' | 'services' | 'openapi' | 'browsers' | 'wordnet'
  version: string
  archive: string
  sha256: string
  licence: string
  /** Which files are documentation, when the usual patterns don't say; which of them are not used. */
  include?: string
  exclude?: string
  /** Teaches nothing: the table is measured with it. */
  isHeldBack?: boolean
}

export const sourcesFile = join(import.meta.dirname, 'sources.json')

export async function readSources(): Promise<Source[]> {
  return JSON.parse(await readFile(sourcesFile, 'utf8')) as Source[]
}

/** The path of the archive in the cache. Throws unless it is there with the pinned hash. */
export async function archiveOf(source: Source, cache: string): Promise<string> {
  const path = join(cache, source.archive)
  const bytes = await readFile(path).catch(() => undefined)
  if (bytes === undefined) throw new Error(`${source.archive} is not in ${cache}: run scripts/embedding/fetch.ts first`)
  if (hashOf(bytes) !== source.sha256) throw new Error(`${source.archive} is not the file that sources.json pins`)
  return path
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Client } from '../../client/client.ts'
import { toSource } from '../../sources/find.ts'
import { createIgnoring } from '../../sources/git-ignore.ts'
import { isBelow, unreachable } from '../../sources/places.ts'
import { allDocuments } from '../knowledge/documents.ts'
import { say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import type { FileResult, IngestFiles } from './files.ts'

export interface PruneDocuments extends Omit<IngestFiles, 'sources'> {
  /** Files, folders, globs. */
  paths: readonly string[]
  prune?: boolean | undefined
  /** Omits the note about paths that pruning skips. */
  quiet?: boolean | undefined
  /** The files of an earlier pass. */
  before?: ReadonlySet<string> | undefined
}

/**
 * Deletes documents whose files are gone: in the given folders when pruning, and those of `before`; and documents of
 * files in the given folders that `.gitignore` has excluded since. An empty or missing
 * folder deletes nothing, since its disk may not be mounted.
 */
export async function* pruneDocuments(
  client: Client,
  found: ReadonlySet<string>,
  { root, paths, settings, dryRun, prune, quiet, before, signal }: PruneDocuments,
): AsyncGenerator<FileResult> {
  const given = await foldersIn(root, paths)
  const folders = prune === true ? given : []
  const isWatched = (source: string) => before?.has(source) === true && !found.has(source)
  if (prune === true && quiet !== true && folders.length < paths.length)
    say('--prune applies only to folders: documents of files and globs are kept.')
  if (given.length === 0 && ![...(before ?? [])].some(isWatched)) return
  const { excluding } = await createIgnoring(root)
  /** By rules that are newer than the document: others were there when its file was named itself. */
  const isExcluded = async (source: string, updatedAt: string) =>
    given.some((folder) => isBelow(folder, source)) &&
    ((await excluding(resolve(root, source)))?.changedMs ?? 0) > Date.parse(updatedAt)
  const lost = await unreachable(root, paths)
  const gone: { id: string; source: string; chunks: number }[] = []
  let kept = 0
  const filter = { collection: settings.collection }
  for await (const { document_id: id, source, name, chunk_count: chunks, updated_at } of allDocuments(
    client,
    filter,
    signal,
  )) {
    // Documents made from a file are named after it.
    if (name !== source || found.has(source)) continue
    const isGone = isWatched(source) || folders.some((folder) => isBelow(folder, source))
    if (!isGone && !(await isExcluded(source, updated_at))) continue
    if (lost.some((folder) => isBelow(folder, source))) kept++
    else gone.push({ id, source, chunks })
  }
  const named = lost.map(terminalLine).join(', ')
  if (kept === 1) say(`Kept 1 document whose folder is empty or missing: ${named}`)
  if (kept > 1) say(`Kept ${kept} documents whose folder is empty or missing: ${named}`)
  for (const { id, source, chunks } of gone) {
    if (dryRun !== true) await client.knowledge.documents.delete(id, { signal })
    yield { source, outcome: 'pruned', chunks }
  }
}

/** Relative to the root; '' is the root itself. */
async function foldersIn(root: string, paths: readonly string[]): Promise<string[]> {
  const folders: string[] = []
  for (const path of paths) {
    const kind = await stat(resolve(root, path)).catch(() => undefined)
    if (kind?.isDirectory()) folders.push(toSource(root, resolve(root, path)))
  }
  return folders
}

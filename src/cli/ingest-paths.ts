import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Client } from '../client/client.ts'
import { UsageError } from './exit.ts'
import { type FileResult, type IngestFiles, ingestContent, ingestFiles } from './ingest-files.ts'
import type { IngestReport } from './ingest-report.ts'
import { allDocuments } from './knowledge-documents.ts'

export interface IngestPaths extends Omit<IngestFiles, 'sources'> {
  /** Files, folders, globs, web addresses, `-`. */
  paths: readonly string[]
  /** What stdin is called. */
  name?: string | undefined
  prune?: boolean | undefined
  /** The files of an earlier pass: documents of those that are gone since are deleted. */
  before?: ReadonlySet<string> | undefined
  allowHttp?: boolean | undefined
  allowPrivate?: boolean | undefined
}

/** Ingests what the paths name, and gives its files; throws UsageError when one of them names nothing. */
export async function ingestPaths(
  client: Client,
  wanted: IngestPaths,
  report: IngestReport,
): Promise<ReadonlySet<string>> {
  const { root, paths, before } = wanted
  const addresses = paths.filter(isAddress)
  const places = paths.filter((path) => !isAddress(path) && path !== '-')
  const sources = places.length === 0 ? [] : await findFiles(root, places, before !== undefined)
  report.begin(sources.length + addresses.length + (paths.includes('-') ? 1 : 0))
  if (paths.includes('-')) {
    const bytes = await buffer(process.stdin)
    report.add(await ingestContent(client, { source: wanted.name ?? 'stdin', bytes }, wanted))
  }
  for (const address of addresses) report.add(await ingestAddress(client, address, wanted))
  for await (const result of ingestFiles(client, { ...wanted, sources })) report.add(result)
  const found = new Set(sources)
  const gone = before !== undefined && [...before].some((source) => !found.has(source))
  if (wanted.prune === true || gone) for await (const result of prune(client, found, places, wanted)) report.add(result)
  return found
}

export function isAddress(path: string): boolean {
  return /^https?:\/\//i.test(path)
}

async function ingestAddress(client: Client, address: string, wanted: IngestPaths): Promise<FileResult> {
  const { download } = await import('../client/download.ts')
  const { allowHttp = false, allowPrivate = false, signal } = wanted
  try {
    const { bytes, mediaType } = await download(address, { allowHttp, allowPrivate, signal })
    return await ingestContent(client, { source: address, bytes, mediaType }, wanted)
  } catch (error) {
    signal.throwIfAborted()
    return { source: address, outcome: 'skipped', chunks: 0, reason: error instanceof Error ? error.message : 'failed' }
  }
}

async function findFiles(root: string, paths: readonly string[], mayBeNone: boolean): Promise<string[]> {
  const { findSources } = await import('../config/sources.ts')
  const sources = await findSources(root, paths).catch((error: Error) => {
    throw new UsageError(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`)
  })
  if (sources.length === 0 && !mayBeNone) throw new UsageError(`There is no file to ingest in ${paths.join(', ')}.`)
  return sources
}

/** Deletes documents whose files are gone: of the folders given when pruning, else of those there were before. */
async function* prune(
  client: Client,
  found: ReadonlySet<string>,
  places: readonly string[],
  wanted: IngestPaths,
): AsyncGenerator<FileResult> {
  const { root, settings, dryRun, before, signal } = wanted
  const folders: string[] = []
  for (const place of wanted.prune === true ? places : []) {
    const kind = await stat(resolve(root, place)).catch(() => undefined)
    if (kind?.isDirectory()) folders.push(place.replace(/^\.\/+|\/+$/g, ''))
  }
  const inFolders = (source: string) => folders.some((folder) => folder !== '.' && source.startsWith(`${folder}/`))
  const gone: { id: string; source: string; chunks: number }[] = []
  const filter = { collection: settings.collection }
  for await (const { document_id: id, source, chunk_count: chunks } of allDocuments(client, filter, signal))
    if ((inFolders(source) || before?.has(source)) && !found.has(source)) gone.push({ id, source, chunks })
  for (const { id, source, chunks } of gone) {
    if (dryRun !== true) await client.knowledge.documents.delete(id, { signal })
    yield { source, outcome: 'pruned', chunks }
  }
}

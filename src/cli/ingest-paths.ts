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
  allowHttp?: boolean | undefined
  allowPrivate?: boolean | undefined
}

/** Ingests what the paths name; throws UsageError when one of them names nothing. */
export async function ingestPaths(client: Client, wanted: IngestPaths, report: IngestReport): Promise<void> {
  const { root, paths } = wanted
  const addresses = paths.filter(isAddress)
  const places = paths.filter((path) => !isAddress(path) && path !== '-')
  const sources = places.length === 0 ? [] : await findFiles(root, places)
  report.begin(sources.length + addresses.length + (paths.includes('-') ? 1 : 0))
  if (paths.includes('-')) {
    const bytes = await buffer(process.stdin)
    report.add(await ingestContent(client, { source: wanted.name ?? 'stdin', bytes }, wanted))
  }
  for (const address of addresses) report.add(await ingestAddress(client, address, wanted))
  for await (const result of ingestFiles(client, { ...wanted, sources })) report.add(result)
  if (wanted.prune === true)
    for await (const result of prune(client, new Set(sources), places, wanted)) report.add(result)
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

async function findFiles(root: string, paths: readonly string[]): Promise<string[]> {
  const { findSources } = await import('../config/sources.ts')
  const sources = await findSources(root, paths).catch((error: Error) => {
    throw new UsageError(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`)
  })
  if (sources.length === 0) throw new UsageError(`There is no file to ingest in ${paths.join(', ')}.`)
  return sources
}

/** Deletes documents that came from the folders given and are not among the files there now. */
async function* prune(
  client: Client,
  found: ReadonlySet<string>,
  places: readonly string[],
  { root, settings, dryRun, signal }: IngestPaths,
): AsyncGenerator<FileResult> {
  const folders: string[] = []
  for (const place of places) {
    const kind = await stat(resolve(root, place)).catch(() => undefined)
    if (kind?.isDirectory()) folders.push(place.replace(/^\.\/+|\/+$/g, ''))
  }
  const inFolders = (source: string) => folders.some((folder) => folder !== '.' && source.startsWith(`${folder}/`))
  const gone: { id: string; source: string; chunks: number }[] = []
  const filter = { collection: settings.collection }
  for await (const { document_id: id, source, chunk_count: chunks } of allDocuments(client, filter, signal))
    if (inFolders(source) && !found.has(source)) gone.push({ id, source, chunks })
  for (const { id, source, chunks } of gone) {
    if (dryRun !== true) await client.knowledge.documents.delete(id, { signal })
    yield { source, outcome: 'pruned', chunks }
  }
}

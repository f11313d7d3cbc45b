import type { Client } from '../../client/client.ts'
import { toFailure } from '../../sources/ingest.ts'
import { UsageError } from '../command/exit.ts'
import { type FileResult, type IngestFiles, ingestContent, ingestFiles, sizeLimit, toResult } from './files.ts'
import { pruneDocuments } from './prune.ts'
import { type IngestReport, leftOut } from './report.ts'
import type { SiteOptions } from './site.ts'

export interface IngestPaths extends Omit<IngestFiles, 'sources'> {
  /** Files, folders, globs, web addresses, `-`. */
  paths: readonly string[]
  name?: string | undefined
  prune?: boolean | undefined
  /** Omits the note about paths that pruning skips. */
  quiet?: boolean | undefined
  /** The files of an earlier pass: documents of those now missing are deleted. */
  before?: ReadonlySet<string> | undefined
  allowHttp?: boolean | undefined
  allowPrivate?: boolean | undefined
  /** Crawl the sites of the addresses. */
  site?: SiteOptions | undefined
}

/** Ingests the paths and gives their files; throws UsageError when a path matches nothing. */
export async function ingestPaths(
  client: Client,
  wanted: IngestPaths,
  report: IngestReport,
): Promise<ReadonlySet<string>> {
  const { root, paths, before } = wanted
  const { ingestAddress, uniqueAddresses } = await import('./address.ts')
  const { ingestSite } = await import('./site.ts')
  const addresses = uniqueAddresses(paths.filter(isAddress))
  const places = paths.filter((path) => !isAddress(path) && path !== '-')
  const { sources, skipped, generated } =
    places.length === 0 ? none : await findFiles(root, places, before !== undefined)
  const total = sources.length + skipped.length + addresses.length + (paths.includes('-') ? 1 : 0)
  report.begin(total)
  for (const result of skipped) report.add(result)
  report.leaveOut(generated)
  if (paths.includes('-')) report.add(await ingestStdin(client, wanted))
  for (const address of addresses) {
    if (wanted.site === undefined) report.add(await ingestAddress(client, address, wanted))
    // Changes of files, which a later pass is for, change no site.
    else if (before === undefined)
      for await (const result of ingestSite(client, address, { ...wanted, site: wanted.site }, report))
        report.add(result)
  }
  for await (const result of ingestFiles(client, { ...wanted, sources })) report.add(result)
  const found = new Set(sources)
  for await (const result of pruneDocuments(client, found, { ...wanted, paths: places })) report.add(result)
  return found
}

export function isAddress(path: string): boolean {
  return /^https?:\/\//i.test(path)
}

async function ingestStdin(client: Client, wanted: IngestPaths): Promise<FileResult> {
  const source = wanted.name ?? 'stdin'
  const limit = sizeLimit(client, wanted.signal)
  const pieces: Buffer[] = []
  let size = 0
  try {
    for await (const piece of process.stdin) {
      pieces.push(piece)
      size += piece.length
      await limit(size)
    }
  } catch (error) {
    return toResult(toFailure({}, source, error))
  }
  return ingestContent(client, { source, bytes: Buffer.concat(pieces) }, wanted)
}

interface FoundFiles {
  sources: string[]
  skipped: FileResult[]
  generated: string[]
}

const none: FoundFiles = { sources: [], skipped: [], generated: [] }

async function findFiles(root: string, paths: readonly string[], mayBeNone: boolean): Promise<FoundFiles> {
  const { findSources } = await import('../../sources/find.ts')
  const skipped: FileResult[] = []
  const generated: string[] = []
  const notes = {
    generated: (source: string) => void generated.push(source),
    skipped: (source: string, reason: string) => void skipped.push({ source, outcome: 'skipped', chunks: 0, reason }),
  }
  const sources = await findSources(root, paths, notes).catch((error: Error) => {
    throw new UsageError(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`)
  })
  if (sources.length === 0 && skipped.length === 0 && !mayBeNone)
    throw new UsageError(`There is no file to ingest in ${paths.join(', ')}.${leftOut(generated)}`)
  return { sources, skipped, generated }
}

import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import { openConnections, publicAddress } from '../../runtime/download.ts'
import { ingestOne } from '../../sources/ingest.ts'
import { crawl, usualDelayMs, usualLimit } from '../../sources/web/crawl.ts'
import { openPageMemory } from '../../sources/web/memory.ts'
import { pageMetadata, validatorsOf } from '../../sources/web/page.ts'
import type { PageTarget } from '../../sources/web/page-target.ts'
import { allDocuments } from '../knowledge/documents.ts'
import { say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import { advice } from './address.ts'
import { askAboutBytes, type FileResult, ingestBytes, toResult } from './files.ts'
import type { IngestPaths } from './paths.ts'
import type { IngestReport } from './report.ts'

export interface SiteOptions {
  depth: number | undefined
  sitemap: boolean | undefined
  llmsTxt: boolean | undefined
  limit: number | undefined
  delayMs: number | undefined
  /** For what pages said when they were last fetched. */
  folder: string
}

/** Fetches the pages of a site and sends those that have changed. */
export async function* ingestSite(
  client: Client,
  address: string,
  wanted: IngestPaths & { site: SiteOptions },
  report: Pick<IngestReport, 'expect'>,
): AsyncGenerator<FileResult, void, void> {
  const { allowHttp = false, allowPrivate = false, dryRun = false, prune, signal, site } = wanted
  const { folder, limit = usualLimit, delayMs = usualDelayMs, ...pages } = site
  const connections = await openConnections({ allowHttp, allowPrivate, advice })
  const onNote = (sentence: string) => say(`${terminalLine(sentence)}`)
  const memory = await openPageMemory(folder, publicAddress(address), ({ message }) =>
    onNote(`The next crawl will fetch unchanged pages again: ${message}`),
  )
  try {
    const onPage = (_done: number, waiting: number) => report.expect(waiting)
    const options = { ...pages, limit, delayMs, start: address, prune, memory, connections, signal, onPage, onNote }
    for await (const { outcome, ...rest } of crawl(targetOf(client, wanted, dryRun), options)) {
      const { source, chunk_count: chunks } = rest
      if (outcome === 'pruned') yield { source, outcome, chunks }
      else yield toResult({ ...rest, outcome })
    }
  } finally {
    await connections.close()
  }
}

function targetOf(client: Client, wanted: IngestPaths, dryRun: boolean): PageTarget {
  const { settings, signal } = wanted
  const { collection } = settings
  const { documents } = client.knowledge
  const work = dryRun ? askAboutBytes : ingestBytes
  /** None of a collection that is not there yet. */
  async function* ofCollection(filter: { source?: string }) {
    try {
      yield* allDocuments(client, { ...filter, collection }, signal)
    } catch (error) {
      if (!isAppError(error) || error.code !== 'collection_not_found') throw error
    }
  }
  return {
    async find(source) {
      for await (const document of ofCollection({ source })) return document
      return undefined
    },
    validatorsOf: (document) => validatorsOf(document, settings),
    async ingest({ source, bytes, mediaType, validators }) {
      const metadata = pageMetadata(settings.metadata, validators)
      const own = { ...wanted, settings: { ...settings, metadata } }
      return ingestOne({}, source, () => work(client, { source, bytes, mediaType }, own))
    },
    async remove({ document_id }) {
      if (!dryRun) await documents.delete(document_id, { signal })
    },
    async *sources() {
      for await (const { source } of ofCollection({})) yield source
    },
  }
}

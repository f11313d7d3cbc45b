import { join } from 'node:path'
import { isAppError } from '../../core/error.ts'
import type { RemoteSource } from '../../core/knowledge/remote-source.ts'
import { openConnections, publicAddress } from '../../runtime/download.ts'
import { assertFilled, ingestOne, toOutcome } from '../../sources/ingest.ts'
import { crawl, usualDelayMs, usualLimit } from '../../sources/web/crawl.ts'
import { createPageMemory, openPageMemory, type PageMemory } from '../../sources/web/memory.ts'
import { pageMetadata, validatorsOf } from '../../sources/web/page.ts'
import type { PageTarget } from '../../sources/web/page-target.ts'
import { advice, type Fetched, type FetchOptions } from './fetched.ts'

/** Callers of the knowledge base have equal turns: sites are one. */
const caller = 'sites'

/** Ingests what has changed on a website. Failures of pages are told, others are thrown. */
export async function fetchSite(source: RemoteSource, options: FetchOptions): Promise<Fetched> {
  const { url, depth, sitemap, llmsTxt, limit = usualLimit, delayMs = usualDelayMs, allowHttp, allowPrivate } = source
  const { logger, signal } = options
  const isOnePage = sitemap !== true && llmsTxt !== true
  const name = publicAddress(url)
  const connections = await openConnections({ allowHttp, allowPrivate, advice })
  const memory = await memoryOf(name, options)
  const fetched: Fetched = { documents: new Set(), ingested: 0, failures: [], isComplete: false }
  try {
    const pages = crawl(targetOf(options), {
      start: url,
      depth: depth ?? (isOnePage ? 0 : undefined),
      sitemap,
      llmsTxt,
      limit,
      delayMs,
      prune: true,
      memory,
      connections,
      signal,
      onNote: (note) => logger.debug({ source: name, note }, 'a website was fetched'),
      onEnd: (isComplete) => {
        fetched.isComplete = isComplete
      },
    })
    for await (const { source: page, outcome, error } of pages) {
      if (outcome !== 'pruned') fetched.documents.add(page)
      if (error === undefined) {
        if (outcome !== 'pruned') fetched.ingested++
        continue
      }
      fetched.failures.push(error.message)
      logger.debug({ source: page, reason: error.message }, 'a page was not ingested')
    }
  } finally {
    await connections.close()
  }
  return fetched
}

function memoryOf(name: string, { folder, logger }: FetchOptions): PageMemory | Promise<PageMemory> {
  if (folder === undefined) return createPageMemory()
  return openPageMemory(join(folder, 'crawls'), name, (error) =>
    logger.warn({ error, source: name }, 'what was fetched is not remembered; unchanged pages will be fetched again'),
  )
}

function targetOf({ knowledge, settings, onDocument, signal }: FetchOptions): PageTarget {
  const { collection } = settings
  return {
    async find(source) {
      try {
        return (await knowledge.listDocuments({ source, collection }, { limit: 1, cursor: undefined })).items[0]
      } catch (error) {
        if (isAppError(error) && error.code === 'collection_not_found') return undefined
        throw error
      }
    },
    validatorsOf: (document) => validatorsOf(document, settings),
    async ingest({ source, bytes, mediaType, validators }) {
      const metadata = pageMetadata(undefined, validators)
      const input = { ...settings, source, name: source, content: bytes, media_type: mediaType, metadata }
      await onDocument(source)
      const isAboutFile = () => !signal.aborted
      return ingestOne({ isAboutFile }, source, async () => {
        assertFilled(source, bytes)
        return toOutcome(source, await knowledge.ingest(input, signal, caller))
      })
    },
    remove: ({ document_id }) => knowledge.deleteDocument(document_id),
    // Pages that nothing leads to are known by what the config has brought.
    async *sources() {},
  }
}

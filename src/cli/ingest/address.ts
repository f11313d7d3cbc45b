import type { Client } from '../../client/client.ts'
import { download, publicAddress } from '../../runtime/download.ts'
import { pageMetadata, readable, typeOf, validatorsOf } from '../../sources/web/page.ts'
import { type FileResult, ingestContent } from './files.ts'
import type { IngestPaths } from './paths.ts'

export const advice = { http: 'Use --allow-http to fetch it.', private: 'Use --allow-private to fetch it.' }

/** One address per page, without fragments. */
export function uniqueAddresses(addresses: readonly string[]): string[] {
  return [...new Map(addresses.map((address) => [publicAddress(address), address])).values()]
}

/** Fetches a page and sends it, unless it has not changed since the document was made. */
export async function ingestAddress(client: Client, address: string, wanted: IngestPaths): Promise<FileResult> {
  const { allowHttp = false, allowPrivate = false, settings, signal } = wanted
  const source = publicAddress(address)
  try {
    const { collection } = settings
    const listed = await client.knowledge.documents
      .list({ source, collection }, { limit: 1, signal })
      .catch(() => undefined)
    const previous = listed?.documents[0]
    const known = previous === undefined ? {} : validatorsOf(previous, settings)
    const page = await download(address, { allowHttp, allowPrivate, signal, known, advice })
    if (page === undefined) return { source, outcome: 'unchanged', chunks: previous?.chunk_count ?? 0 }
    const metadata = pageMetadata(settings.metadata, page.validators)
    const content = { source, bytes: readable(page), mediaType: typeOf(page) }
    return await ingestContent(client, content, { ...wanted, settings: { ...settings, metadata } })
  } catch (error) {
    signal.throwIfAborted()
    return { source, outcome: 'skipped', chunks: 0, reason: error instanceof Error ? error.message : 'failed' }
  }
}

import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../client/client.ts'
import type { JsonObject } from '../../core/json.ts'
import type { DocumentRecord } from '../../core/knowledge/knowledge.ts'
import { download, type Page, publicAddress, type Validators } from '../../runtime/download.ts'
import { type FileResult, ingestContent } from './files.ts'
import type { IngestPaths } from './paths.ts'

const etagKey = 'http_etag'
const lastModifiedKey = 'http_last_modified'
const advice = { http: 'Use --allow-http to fetch it.', private: 'Use --allow-private to fetch it.' }
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

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
    const known = previous && isAsAsked(previous, wanted) ? validatorsIn(previous.metadata) : {}
    const page = await download(address, { allowHttp, allowPrivate, signal, known, advice })
    if (page === undefined) return { source, outcome: 'unchanged', chunks: previous?.chunk_count ?? 0 }
    const metadata = { ...settings.metadata, ...toMetadata(page.validators) }
    const content = { source, bytes: readable(page), mediaType: page.mediaType?.split(';', 1)[0]?.trim() }
    return await ingestContent(client, content, { ...wanted, settings: { ...settings, metadata } })
  } catch (error) {
    signal.throwIfAborted()
    return { source, outcome: 'skipped', chunks: 0, reason: error instanceof Error ? error.message : 'failed' }
  }
}

function isAsAsked(document: DocumentRecord, { settings }: IngestPaths): boolean {
  const { [etagKey]: _etag, [lastModifiedKey]: _modified, ...metadata } = document.metadata
  const { chunker_type, chunk_size, chunk_overlap } = settings
  return (
    isDeepStrictEqual(metadata, settings.metadata ?? {}) &&
    (chunker_type ?? document.chunker_type) === document.chunker_type &&
    (chunk_size ?? document.chunk_size) === document.chunk_size &&
    (chunk_overlap ?? document.chunk_overlap) === document.chunk_overlap
  )
}

function validatorsIn({ [etagKey]: etag, [lastModifiedKey]: lastModified }: JsonObject): Validators {
  return {
    etag: typeof etag === 'string' ? etag : undefined,
    lastModified: typeof lastModified === 'string' ? lastModified : undefined,
  }
}

function toMetadata({ etag, lastModified }: Validators): JsonObject {
  return {
    ...(etag === undefined ? {} : { [etagKey]: etag }),
    ...(lastModified === undefined ? {} : { [lastModifiedKey]: lastModified }),
  }
}

/** Converts to UTF-8 with a byte order mark when the server names a charset: it overrides the page's own. */
function readable({ bytes, mediaType = '' }: Page): Uint8Array {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(mediaType)?.[1]
  if (charset === undefined || !/^(?:text\/|application\/(?:[\w.-]+\+)?(?:xml|json)\b)/i.test(mediaType)) return bytes
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes)
    return Buffer.concat([byteOrderMark, Buffer.from(text)])
  } catch {
    // Unknown charset or invalid bytes: detect the encoding from the bytes.
    return bytes
  }
}

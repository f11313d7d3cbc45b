import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../core/json.ts'
import type { ChunkerType, DocumentRecord } from '../../core/knowledge/knowledge.ts'
import type { Page, Validators } from '../../runtime/download.ts'

const etagKey = 'http_etag'
const lastModifiedKey = 'http_last_modified'
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** How the documents of pages are made. */
export interface PageSettings {
  metadata?: JsonObject | undefined
  chunker_type?: ChunkerType | undefined
  chunk_size?: number | undefined
  chunk_overlap?: number | undefined
}

/** The validators of the page that a document was made from; none if it would be made differently now. */
export function validatorsOf(document: DocumentRecord, settings: PageSettings): Validators {
  const { [etagKey]: etag, [lastModifiedKey]: lastModified, ...metadata } = document.metadata
  const { chunker_type, chunk_size, chunk_overlap } = settings
  const isAsAsked =
    isDeepStrictEqual(metadata, settings.metadata ?? {}) &&
    (chunker_type ?? document.chunker_type) === document.chunker_type &&
    (chunk_size ?? document.chunk_size) === document.chunk_size &&
    (chunk_overlap ?? document.chunk_overlap) === document.chunk_overlap
  if (!isAsAsked) return {}
  return {
    etag: typeof etag === 'string' ? etag : undefined,
    lastModified: typeof lastModified === 'string' ? lastModified : undefined,
  }
}

/** The given metadata with the page's validators. */
export function pageMetadata(metadata: JsonObject | undefined, { etag, lastModified }: Validators): JsonObject {
  return {
    ...metadata,
    ...(etag === undefined ? {} : { [etagKey]: etag }),
    ...(lastModified === undefined ? {} : { [lastModifiedKey]: lastModified }),
  }
}

/** The media type without parameters. */
export function typeOf({ mediaType }: Pick<Page, 'mediaType'>): string | undefined {
  return mediaType?.split(';', 1)[0]?.trim().toLowerCase()
}

/** Converts to UTF-8 with a byte order mark when the server names a charset: it overrides the page's own. */
export function readable({ bytes, mediaType = '' }: Pick<Page, 'bytes' | 'mediaType'>): Uint8Array {
  const charset = charsetOf(mediaType)
  if (charset === undefined || !/^(?:text\/|application\/(?:[\w.-]+\+)?(?:xml|json)\b)/i.test(mediaType)) return bytes
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes)
    return Buffer.concat([byteOrderMark, Buffer.from(text)])
  } catch {
    // Unknown charset or invalid bytes: detect the encoding from the bytes.
    return bytes
  }
}

function charsetOf(mediaType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(mediaType)?.[1]
}

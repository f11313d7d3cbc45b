import type { SourceEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Retrieval } from '../../core/knowledge/retrieval.ts'
import type { FilePart } from '../../core/message.ts'
import { addressOf, type FileAddress } from '../kept-file.ts'
import type { ChatChunk } from './chunk.ts'

const mediaTypes: Record<string, string> = {
  md: 'text/markdown',
  mdx: 'text/markdown',
  txt: 'text/plain',
  html: 'text/html',
  htm: 'text/html',
  csv: 'text/csv',
  json: 'application/json',
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
}

/** A cited passage: a page of the web, or a document. */
export function sourceChunk({ type: _, run_id: _r, seq: _s, at: _a, ...about }: SourceEvent & Stamped): ChatChunk {
  const { source, chunk_id: sourceId, line_start: first, line_end: last, page } = about
  const providerMetadata = { agentserve: { ...about } as JsonObject }
  const place =
    page !== undefined
      ? `, page ${page}`
      : first === undefined
        ? ''
        : `:${first}${last === undefined || last === first ? '' : `-${last}`}`
  const title = `${source}${place}`
  if (/^https?:\/\//.test(source)) return { type: 'source-url', sourceId, url: source, title, providerMetadata }
  const filename = source.split('/').at(-1) ?? source
  const ending = /\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  const mediaType = (Object.hasOwn(mediaTypes, ending) ? mediaTypes[ending] : undefined) ?? 'text/plain'
  return { type: 'source-document', sourceId, mediaType, title, filename, providerMetadata }
}

interface Stamped {
  run_id: string
  seq: number
  at: string
}

/** A search, for `onData`: it does not stay in the message. */
export function retrievalChunk({ query, results }: Retrieval): ChatChunk {
  const found = results.map(({ chunk_id, source, score }) => ({ chunk_id, source, score }))
  return { type: 'data-retrieval', data: { query, results: found }, transient: true }
}

export function fileChunks(part: FilePart, sessionId: string, fileAddress: FileAddress): ChatChunk[] {
  const url = addressOf(part, sessionId, fileAddress)
  if (url === undefined) return []
  const about: JsonObject = {}
  if (part.file_id !== undefined) about.file_id = part.file_id
  if (part.name !== undefined) about.name = part.name
  if (part.size !== undefined) about.size = part.size
  return [{ type: 'file', url, mediaType: part.media_type, providerMetadata: { agentserve: about } }]
}

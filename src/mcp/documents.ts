import type { CallToolResult, ReadResourceResult, Resource } from '@modelcontextprotocol/server'
import { isAppError, notFound } from '../core/error.ts'
import type { DocumentRecord, SearchHit } from '../core/knowledge/knowledge.ts'
import { knowledgeLimits } from '../core/knowledge/limits.ts'
import type { GivenArguments } from './arguments.ts'
import { cut } from './cut.ts'
import type { McpPort } from './port.ts'

const scheme = 'agentserve://documents/'
export const documentTemplate = `${scheme}{document_id}`
const documentsPerPage = 100
const chunksPerPage = 100

export function uriOf(documentId: string): string {
  return scheme + encodeURIComponent(documentId)
}

/** Where a person finds the document: its source when it is an address. */
function urlOf({ source, document_id }: Pick<SearchHit, 'source' | 'document_id'>): string {
  return /^https?:\/\//i.test(source) ? source : uriOf(document_id)
}

/** The result as ChatGPT and others read it: one text that is the JSON of `shown`. */
function asJson(shown: Record<string, unknown>, structured = shown): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(shown) }], structuredContent: structured }
}

export async function search(port: McpPort, given: GivenArguments, signal: AbortSignal): Promise<CallToolResult> {
  const query = given.text('query') ?? ''
  const { results, skipped, filesToCome } = await port.search(
    { query, limit: given.integer('limit'), collection: given.text('collection') },
    signal,
  )
  const documents = new Map(results.map((hit) => [hit.document_id, hit]))
  const titled = (hit: SearchHit) => ({ id: hit.document_id, title: hit.source, url: urlOf(hit) })
  const rest = { ...(skipped && { skipped }), ...incomplete(filesToCome) }
  return asJson(
    { results: [...documents.values()].map(titled), ...rest },
    { results: results.map((hit) => ({ ...titled(hit), ...shown(hit) })), ...rest },
  )
}

/** Nothing when every file was searched. */
function incomplete(filesToCome: number | undefined) {
  if (filesToCome === undefined) return {}
  const files = filesToCome === 0 ? 'Files' : filesToCome === 1 ? '1 file' : `${filesToCome} files`
  const note = `${files} are still being read. Search again in a few seconds for results from all of them.`
  return { files_to_come: filesToCome, note: filesToCome === 1 ? note.replace(' are ', ' is ') : note }
}

function shown({ chunk_id, content, score, source, line_start, line_end, page }: SearchHit) {
  return { chunk_id, content, score, source, line_start, line_end, page }
}

export async function fetchDocument(
  port: McpPort,
  given: GivenArguments,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const id = given.text('id') ?? ''
  const document = await port.document(idOf(id) ?? id)
  const { text, cut: isCut } = await textOf(port, document.document_id, signal)
  const { document_id, source, name, media_type, metadata, updated_at } = document
  const about = { ...metadata, source, media_type, updated_at, ...(isCut && { cut_at: text.length }) }
  return asJson({ id: document_id, title: name ?? source, text, url: urlOf(document), metadata: about })
}

/** The document's text: its chunks in order, without what they have in common. Reads no more than it shows. */
async function textOf(port: McpPort, documentId: string, signal: AbortSignal): Promise<{ text: string; cut: boolean }> {
  let text = ''
  let end = 0
  let cursor: string | undefined
  do {
    const page = await port.chunks(documentId, { limit: chunksPerPage, cursor })
    signal.throwIfAborted()
    for (const chunk of page.items) {
      if (chunk.start_offset > end && text !== '') text += '\n'
      text += chunk.content.slice(Math.max(0, end - chunk.start_offset))
      end = Math.max(end, chunk.end_offset)
    }
    const shown = cut(text)
    if (shown.cut) return shown
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return { text, cut: false }
}

export async function listDocuments(port: McpPort, cursor: string | undefined) {
  const { items, next } = await port.documents({ limit: documentsPerPage, cursor })
  return { resources: items.map(resourceOf), ...(next !== null && { nextCursor: next }) }
}

function resourceOf({ document_id, source, name, media_type, updated_at }: DocumentRecord): Resource {
  return {
    uri: uriOf(document_id),
    name: name ?? source,
    description: source,
    mimeType: mimeTypeOf(media_type),
    annotations: { lastModified: updated_at },
  }
}

/** What is read is text, whatever the document was. */
function mimeTypeOf(mediaType: string | null): string {
  return mediaType?.startsWith('text/') ? mediaType : 'text/plain'
}

/** Undefined: there is no such document. */
export async function readDocument(
  port: McpPort,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult | undefined> {
  try {
    const id = idOf(uri)
    if (id === undefined) throw notFound('document', uri)
    const { document_id, media_type } = await port.document(id)
    const { text } = await textOf(port, document_id, signal)
    return { contents: [{ uri, mimeType: mimeTypeOf(media_type), text }] }
  } catch (error) {
    if (isAppError(error) && error.code === 'document_not_found') return undefined
    throw error
  }
}

function idOf(uri: string): string | undefined {
  if (!uri.startsWith(scheme) || uri.length > knowledgeLimits.label) return undefined
  try {
    return decodeURIComponent(uri.slice(scheme.length))
  } catch {
    return undefined
  }
}

import type { Client } from '../../client/client.ts'
import { notFound } from '../../core/error.ts'
import type { DocumentRecord } from '../../core/knowledge/knowledge.ts'
import { formatFields } from '../terminal/fields.ts'
import { printJson, say, write } from '../terminal/output.ts'
import { formatTable } from '../terminal/table.ts'
import { terminalLine } from '../terminal/text.ts'
import { shownTime, tableTime } from '../terminal/when.ts'
import { whatIsEmpty } from './empty.ts'

interface Options {
  collection: string | undefined
  json: boolean
  signal: AbortSignal
}

/** Every document, newest first, page by page. */
export async function* allDocuments(
  client: Client,
  filter: { collection?: string | undefined; source?: string | undefined },
  signal: AbortSignal,
): AsyncGenerator<DocumentRecord> {
  for (let cursor: string | undefined; ; ) {
    const page = await client.knowledge.documents.list(filter, { limit: 100, cursor, signal })
    yield* page.documents
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}

export async function listDocuments(client: Client, { collection, json, signal }: Options): Promise<void> {
  const rows: string[][] = []
  for await (const document of allDocuments(client, { collection }, signal)) {
    if (json) printJson(document)
    else
      rows.push([
        terminalLine(document.source),
        String(document.chunk_count),
        document.chunker_type,
        tableTime(document.updated_at),
        document.document_id,
      ])
  }
  if (json) return
  if (rows.length === 0) say(whatIsEmpty())
  else await write(`${formatTable(['SOURCE', 'CHUNKS', 'CHUNKER', 'UPDATED', 'ID'], rows)}\n`)
}

/** Deletes by id or source. Throws `document_not_found` at an unknown name; those before it are deleted. */
export async function deleteDocuments(client: Client, names: readonly string[], options: Options): Promise<void> {
  for await (const [name, id] of findDocuments(client, names, options)) {
    const deleted = await client.knowledge.documents.delete(id, { signal: options.signal })
    if (options.json) printJson(deleted)
    else say(`Deleted ${terminalLine(name)}.`)
  }
}

/** Prints documents, named by id or by source. Throws `document_not_found` as `deleteDocuments` does. */
export async function showDocuments(client: Client, names: readonly string[], options: Options): Promise<void> {
  for await (const [, id] of findDocuments(client, names, options)) {
    const document = await client.knowledge.documents.get(id, { signal: options.signal })
    if (options.json) printJson(document)
    else await write(`${formatDocument(document)}\n`)
  }
}

async function* findDocuments(
  client: Client,
  names: readonly string[],
  { collection, signal }: Options,
): AsyncGenerator<[name: string, id: string]> {
  for (const name of names) {
    const ids = name.startsWith('doc_') ? [name] : []
    for await (const { document_id } of allDocuments(client, { collection, source: name }, signal))
      ids.push(document_id)
    if (ids.length === 0) throw notFound('document', name)
    for (const id of ids) yield [name, id]
  }
}

function formatDocument(document: DocumentRecord): string {
  const { chunk_count, chunker_type, chunk_size, chunk_overlap, metadata, reader_metadata } = document
  return formatFields([
    ['document', document.document_id],
    ['source', document.source],
    ['name', document.name],
    ['media type', document.media_type],
    ['chunks', `${chunk_count} (${chunker_type}, ${chunk_size} characters, overlap ${chunk_overlap})`],
    ['collection', document.collection],
    ['metadata', Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata)],
    ['reader', JSON.stringify(reader_metadata)],
    ['hash', document.content_hash],
    ['created', shownTime(document.created_at)],
    ['updated', shownTime(document.updated_at)],
  ])
}

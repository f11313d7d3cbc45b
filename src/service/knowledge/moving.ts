import { AppError, isAppError } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import type { StoredChunk } from '../../core/knowledge/chunk.ts'
import type { Collection, DocumentStore, NewChunks, StoredDocument } from '../../core/knowledge/document-store.ts'
import type { Embedders, VectorRow, VectorStore, VectorTable } from '../../core/knowledge/drivers.ts'
import { embeddingsOf, tableNames } from './vectors/index-document.ts'

/** One transaction, and one read of vectors. */
const chunksAtOnce = 1_000
const documentsAtOnce = 100

export interface MoveDrivers {
  from: {
    documents: Pick<DocumentStore, 'collections' | 'listDocuments' | 'findBySources' | 'chunksOf' | 'brought'>
    vectors: {
      names(): Promise<string[]>
      read(name: string, first: number, last: number): Promise<VectorRow[]>
    }
  }
  to: { documents: DocumentStore; vectors: VectorStore }
  embedders: Pick<Embedders, 'beside'>
  toRows(chunks: readonly StoredChunk[]): Omit<NewChunks, 'generation' | 'firstChunk'>
}

export interface Moved {
  collection: string
  /** What is now there of this knowledge base and was not before, also in place of an older version. */
  copied: number
  /** Was there already, the same. */
  unchanged: number
  /** Another version of the source is there, which is newer. */
  kept: number
  /** Documents whose vectors are not all there: a server writes them. */
  pending: number
}

/**
 * Copies documents with their chunks and vectors into another knowledge base, and embeds nothing. Each document is there as a
 * whole or not at all; what is there already is left out, so that a copy that was broken off can be continued. Throws
 * `conflict` when a collection has another embedder there.
 */
export async function moveKnowledge(
  drivers: MoveDrivers,
  { signal, progress }: { signal: AbortSignal; progress: (done: number, total: number) => void },
): Promise<Moved[]> {
  const { from, to } = drivers
  const pairs: { collection: Collection; target: Collection; listed: Listed }[] = []
  // Before anything is copied: whether all of them can be.
  for (const collection of await from.documents.collections()) {
    const target = await targetOf(to.documents, collection.name, collection.embedding)
    pairs.push({ collection, target, listed: await sourcesOf(from.documents, collection, signal) })
  }
  const total = pairs.reduce((sum, { listed }) => sum + listed.chunks, 0)
  let done = 0
  const count = (chunks: number) => {
    done += chunks
    progress(done, total)
  }
  const moved: Moved[] = []
  for (const { collection, target, listed } of pairs) {
    const lists = await listsOf(drivers, collection, target)
    const counts = { copied: 0, unchanged: 0, kept: 0 }
    for (let at = 0; at < listed.sources.length; at += documentsAtOnce) {
      const sources = listed.sources.slice(at, at + documentsAtOnce)
      const mine = await from.documents.findBySources(collection.key, sources)
      const known = await to.documents.findBySources(target.key, sources)
      const found = sources.flatMap((source) => mine.get(source) ?? [])
      const isWanted = (document: StoredDocument) => stateOf(document, known.get(document.source)) === 'copied'
      for (const document of found) {
        counts[stateOf(document, known.get(document.source))]++
        if (!isWanted(document)) count(document.chunk_count)
      }
      for (const batch of batches(found.filter(isWanted))) await copy(drivers, target, lists, batch, signal, count)
    }
    await to.documents.changeBrought(target.name, await from.documents.brought(collection.name), [])
    const missing = new Set<number>()
    for (const { table } of lists) {
      for (const generation of (await table.missing?.()) ?? []) missing.add(generation)
      await table.compact()
    }
    moved.push({ collection: collection.name, ...counts, pending: missing.size })
  }
  return moved
}

interface ListPair {
  /** Undefined: there are none to copy. */
  name: string | undefined
  table: VectorTable
}

async function listsOf({ from, to, embedders }: MoveDrivers, collection: Collection, target: Collection) {
  const held = new Set(await from.vectors.names())
  const [here, there] = [tableNames(embedders, collection), tableNames(embedders, target)]
  const lists: ListPair[] = []
  for (const [at, { dimensions }] of embeddingsOf(embedders, target.embedding).entries()) {
    const name = here[at]
    const table = await to.vectors.table(there[at] ?? '', dimensions)
    lists.push({ name: name !== undefined && held.has(name) ? name : undefined, table })
  }
  return lists
}

async function targetOf(
  documents: DocumentStore,
  name: string,
  embedding: Collection['embedding'],
): Promise<Collection> {
  const target = (await documents.findCollection(name)) ?? (await documents.ensureCollection(name, embedding))
  const { provider, model, dimensions } = target.embedding
  if (provider === embedding.provider && model === embedding.model && dimensions === embedding.dimensions) return target
  throw new AppError(
    'conflict',
    `The collection '${name}' was embedded by ${provider} (${model}) there, and by ${embedding.provider} (${embedding.model}) here. ` +
      `Run 'agentserve knowledge reindex --embedder ${embedding.provider}' there first. Nothing was copied.`,
  )
}

interface Listed {
  /** The oldest first, so that they are listed in the same order there. */
  sources: string[]
  chunks: number
}

async function sourcesOf(
  documents: MoveDrivers['from']['documents'],
  { key }: Collection,
  signal: AbortSignal,
): Promise<Listed> {
  const sources: string[] = []
  let chunks = 0
  for (let cursor: string | undefined; ; ) {
    signal.throwIfAborted()
    const { items, next } = await documents.listDocuments({ collection: key }, { limit: documentsAtOnce, cursor })
    for (const { source, chunk_count } of items) {
      sources.push(source)
      chunks += chunk_count
    }
    if (next === null) return { sources: sources.reverse(), chunks }
    cursor = next
  }
}

function stateOf(document: StoredDocument, known: StoredDocument | undefined): 'copied' | 'unchanged' | 'kept' {
  if (known === undefined) return 'copied'
  if (isSame(document, known)) return 'unchanged'
  return known.updated_at > document.updated_at ? 'kept' : 'copied'
}

function isSame(one: StoredDocument, other: StoredDocument): boolean {
  const compared = (document: StoredDocument) => {
    const { content_hash, chunk_count, chunk_size, chunk_overlap, chunker_type, name, media_type, metadata } = document
    return JSON.stringify([
      content_hash,
      chunk_count,
      chunk_size,
      chunk_overlap,
      chunker_type,
      name,
      media_type,
      metadata,
    ])
  }
  return compared(one) === compared(other)
}

/** Small documents together, and each large one alone. */
function* batches(documents: readonly StoredDocument[]): Generator<StoredDocument[]> {
  let batch: StoredDocument[] = []
  let chunks = 0
  for (const document of documents) {
    if (batch.length > 0 && chunks + document.chunk_count > chunksAtOnce) {
      yield batch
      batch = []
      chunks = 0
    }
    batch.push(document)
    chunks += document.chunk_count
  }
  if (batch.length > 0) yield batch
}

interface Placed {
  document: StoredDocument
  generation: number
  firstChunk: number
  copied: number
}

async function copy(
  { from, to, toRows }: MoveDrivers,
  { key, version }: Collection,
  lists: readonly ListPair[],
  batch: readonly StoredDocument[],
  signal: AbortSignal,
  progress: (chunks: number) => void,
): Promise<void> {
  const places = await to.documents.reserve(batch.map(({ chunk_count }) => chunk_count))
  const placed = new Map(
    batch.map((document, at): [number, Placed] => {
      const { generation = 0, firstChunk = 0 } = places[at] ?? {}
      return [document.generation, { document, generation, firstChunk, copied: 0 }]
    }),
  )
  const generations = batch.map(({ generation }) => generation)
  /** The last of each document are written when it becomes current. */
  const last: (NewChunks & { document: StoredDocument })[] = []
  try {
    for (let after = 0; ; ) {
      signal.throwIfAborted()
      const chunks = await from.documents.chunksOf(generations, after, chunksAtOnce)
      const [first, final] = [chunks[0], chunks.at(-1)]
      if (first === undefined || final === undefined) break
      after = final.key
      const keys = new Map(chunks.map((chunk) => [chunk.key, chunk]))
      for (const { name, table } of lists) {
        if (name === undefined) continue
        const rows = (await from.vectors.read(name, first.key, final.key)).flatMap((row): VectorRow[] => {
          const [chunk, place] = [keys.get(row.chunk), placed.get(row.generation)]
          if (chunk === undefined || place === undefined || chunk.generation !== row.generation) return []
          return [{ chunk: place.firstChunk + chunk.index, generation: place.generation, vector: row.vector }]
        })
        await table.add(rows)
      }
      for (const [generation, own] of Map.groupBy(chunks, (chunk) => chunk.generation)) {
        const place = placed.get(generation)
        if (place === undefined) continue
        place.copied += own.length
        const rows = { generation: place.generation, firstChunk: place.firstChunk, ...toRows(own) }
        if (place.copied < place.document.chunk_count) await to.documents.addChunks(key, rows)
        else last.push({ ...rows, document: place.document })
      }
      progress(chunks.length)
    }
    if ([...placed.values()].some(({ copied, document }) => copied !== document.chunk_count)) throw changed()
    const replaced = await publish(to.documents, key, version, last)
    await to.documents.collect(replaced)
  } catch (error) {
    // What remains of a process that ends here is removed by the others.
    await to.documents.collect([...placed.values()].map(({ generation }) => generation)).catch(() => undefined)
    throw error
  }
}

/** Gives the generations that were replaced. */
async function publish(
  documents: DocumentStore,
  key: number,
  version: number,
  all: readonly (NewChunks & { document: StoredDocument })[],
): Promise<number[]> {
  const own = all.map(({ document: { collection: _, ...document }, ...chunks }) => ({
    ...chunks,
    document: { ...document, generation: chunks.generation },
  }))
  const published = await documents.publish(key, own, version).catch((error: unknown) => {
    // Another knowledge base of the same database has documents of these ids: a copy of the same one.
    if (!isTaken(error)) throw error
    const renamed = own.map(({ document, ...chunks }) => ({
      ...chunks,
      document: { ...document, document_id: createId('doc') },
    }))
    return documents.publish(key, renamed, version)
  })
  return published.flatMap(({ replaced }) => replaced ?? [])
}

function isTaken(error: unknown): boolean {
  return isAppError(error) && (error.cause as { code?: unknown } | undefined)?.code === '23505'
}

function changed(): AppError {
  return new AppError(
    'conflict',
    'The knowledge base changed while it was copied. Stop the server that still uses it, and copy again: what is there already is left out.',
  )
}

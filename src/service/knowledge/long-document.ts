import { createHash } from 'node:crypto'
import type { NewChunks, NewGeneration, Published } from '../../core/knowledge/document-store.ts'
import type { FileContent, PreparedDocument } from '../../core/knowledge/drivers.ts'
import { unreadable } from '../../core/knowledge/filter.ts'
import type { IngestResult } from '../../core/knowledge/knowledge.ts'
import { addVectors, type CommitDrivers, explained } from './commit.ts'
import {
  type DocumentSettings,
  type FoundDocument,
  type IngestDrivers,
  result,
  toDocument,
  toRequest,
} from './document.ts'
import { removeLeftovers } from './leftovers.ts'
import type { CollectionIndex } from './vectors/index-document.ts'

export interface LongDocument {
  file: FileContent
  settings: DocumentSettings
  encoding: string | undefined
  signal: AbortSignal
  caller: string
}

/**
 * Ingests a file part by part: while one is stored, the next is prepared, so that memory does not grow with the file. All
 * parts have one generation, which becomes current with the last; until then, and after a crash, none of them is shown.
 */
export async function ingestLong(
  drivers: IngestDrivers & CommitDrivers,
  { file, settings, encoding, signal, caller }: LongDocument,
  found: FoundDocument,
): Promise<IngestResult> {
  const now = drivers.clock()
  const { preparer } = drivers
  const request = await toRequest(drivers, settings, found.collection, now, caller)
  const hash = createHash('sha256')
  const read = { ...file, pieces: () => hashed(file.pieces(), hash) }
  const index = await drivers.openCollection(settings.collection)
  const writing = createWriting(drivers, index, signal)
  try {
    let made: PreparedDocument | undefined
    for await (const part of readAhead(preparer.prepareParts(request, read, encoding, signal))) {
      made = { ...part, metadata: { ...made?.metadata, ...part.metadata } }
      await writing.add(part)
    }
    if (made === undefined || writing.chunks() === 0) throw unreadable(settings.source, 'it is empty')
    const whole = { ...settings, hash: hash.digest('hex') }
    const document = { ...toDocument(made, whole, found.previous, now), chunk_count: writing.chunks() }
    const { documentId, replaced } = await writing.publish(document)
    if (replaced !== undefined) await removeLeftovers(drivers, async () => index.lists, [replaced])
    const stored = { ...document, document_id: documentId, collection: settings.collection }
    return result(stored, [], replaced !== undefined)
  } catch (error) {
    preparer.forgetWords()
    await writing.discard()
    throw await explained(drivers, index, error)
  }
}

function createWriting(drivers: CommitDrivers, index: CollectionIndex, signal: AbortSignal) {
  const { documents, preparer } = drivers
  const { key, version } = index.collection
  let generation: number | undefined
  let chunks = 0
  /** The last rows are written with the document. */
  let held: { chunks: NewChunks; of: PreparedDocument } | undefined

  const flush = async () => {
    if (held === undefined) return
    const { chunks: rows, of } = held
    held = undefined
    await documents.addChunks(key, rows)
    if (of.rows.at(-1) === rows.rows) preparer.release(of)
  }

  return {
    chunks: () => chunks,
    async add(part: PreparedDocument): Promise<void> {
      const count = part.chunkIds.length
      if (count === 0) return
      const [place] = await documents.reserve([count])
      if (place === undefined) return
      generation ??= place.generation
      await addVectors(index, [{ prepared: part, generation, firstChunk: place.firstChunk, signal }])
      for (const [at, rows] of part.rows.entries()) {
        signal.throwIfAborted()
        await flush()
        const newWords = at === part.rows.length - 1 ? part.newWords : []
        held = { chunks: { generation, firstChunk: place.firstChunk - chunks, rows, newWords }, of: part }
      }
      chunks += count
    },
    async publish(document: Omit<NewGeneration, 'generation'>): Promise<Published> {
      if (held === undefined || generation === undefined) throw new Error('There is nothing to publish.')
      signal.throwIfAborted()
      const last = { ...held.chunks, document: { ...document, generation } }
      const [published] = await documents.publish(key, [last], version)
      if (published === undefined) throw new Error('The document was stored without an answer.')
      preparer.release(held.of)
      return published
    },
    async discard(): Promise<void> {
      if (generation !== undefined) await removeLeftovers(drivers, async () => index.lists, [generation])
    },
  }
}

async function* hashed(pieces: AsyncIterable<Uint8Array>, hash: { update(piece: Uint8Array): unknown }) {
  for await (const piece of pieces) {
    hash.update(piece)
    yield piece
  }
}

/** Begins the next one while one is used. */
async function* readAhead<T>(all: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = all[Symbol.asyncIterator]()
  let next = iterator.next()
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = iterator.next()
      // Its error is thrown when its turn comes.
      next.catch(() => undefined)
      yield value
    }
  } finally {
    await iterator.return?.()
  }
}

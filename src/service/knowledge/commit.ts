import { chunkRows } from '../../core/knowledge/chunk.ts'
import {
  type DocumentStore,
  type NewChunks,
  type NewGeneration,
  type Published,
  StaleCollection,
} from '../../core/knowledge/document-store.ts'
import type { PreparedDocument, Preparer, VectorRow } from '../../core/knowledge/drivers.ts'
import type { Logger } from '../../core/logger.ts'
import { removeLeftovers } from './leftovers.ts'
import type { CollectionIndex, VectorList } from './vectors/index-document.ts'

/** Each write of vectors is a file, and each transaction syncs the disk, so chunks share them. */
const chunksPerBatch = 1_000
/** The size of one transaction; it delays only other writers of documents. */
const chunksPerTransaction = 1_000
const chunksPerEmbedding = 200
const longestWaitMs = 100
const noRows = chunkRows([], new Uint8Array())

export interface Committable {
  collection: string
  document: Omit<NewGeneration, 'generation'>
  prepared: PreparedDocument
  signal: AbortSignal
}

export interface CommitDrivers {
  documents: DocumentStore
  preparer: Preparer
  logger: Logger
  /** Creates the collection and its index if missing. */
  openCollection(name: string): Promise<CollectionIndex>
}

export interface Commits {
  /** Resolves when the document is current; on failure everything that was written of it is removed. */
  add(prepare: () => Promise<Committable>): Promise<Published>
}

interface PendingDocument extends Committable {
  settled: PromiseWithResolvers<Published>
}

export function createCommits(drivers: CommitDrivers): Commits {
  let waiting: PendingDocument[] = []
  let chunks = 0
  let expected = 0
  let timer: NodeJS.Timeout | undefined

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const batches = Map.groupBy(waiting, (each) => each.collection)
    waiting = []
    chunks = 0
    for (const batch of batches.values()) void commit(drivers, batch)
  }
  const flushWhenDue = () => {
    if (chunks === 0) return
    if (chunks >= chunksPerBatch || expected === 0) flush()
    else timer ??= setTimeout(flush, longestWaitMs)
  }

  return {
    async add(prepare) {
      expected++
      let ready: PendingDocument | undefined
      try {
        ready = { ...(await prepare()), settled: Promise.withResolvers<Published>() }
        waiting.push(ready)
        chunks += chunkCount(ready)
      } finally {
        expected--
        flushWhenDue()
      }
      return ready.settled.promise
    },
  }
}

async function commit(drivers: CommitDrivers, batch: readonly PendingDocument[]): Promise<void> {
  try {
    const published = await store(drivers, batch)
    for (const { settled, prepared } of batch) {
      drivers.preparer.release(prepared)
      const result = published.get(prepared)
      if (result === undefined) settled.reject(new Error('The documents are stored without one of them.'))
      else settled.resolve(result)
    }
  } catch (error) {
    drivers.preparer.forgetWords()
    // One document must not fail because of another: each is retried on its own. A new index is for none of them.
    if (batch.length > 1 && !(error instanceof StaleCollection)) for (const each of batch) await commit(drivers, [each])
    else for (const { settled } of batch) settled.reject(error)
  }
}

type Reserved = PendingDocument & Placed

/** Vectors are numbered from `firstChunk`, that of the first chunk in `prepared`. */
interface Placed {
  prepared: PreparedDocument
  generation: number
  firstChunk: number
  signal: AbortSignal
}

/** The error, or that another server has reindexed: then the vectors have no place any more. */
export async function explained(
  { documents }: Pick<CommitDrivers, 'documents'>,
  { collection }: CollectionIndex,
  error: unknown,
): Promise<unknown> {
  if (documents.works === undefined || error instanceof StaleCollection) return error
  const now = await documents.findCollection(collection.name).catch(() => undefined)
  if (now === undefined || now.version === collection.version) return error
  return new StaleCollection(error)
}

/** What became of each, by what was prepared. */
async function store(
  drivers: CommitDrivers,
  batch: readonly PendingDocument[],
): Promise<Map<PreparedDocument, Published>> {
  const { documents } = drivers
  const index = await drivers.openCollection(batch[0]?.collection ?? '')
  const places = await documents.reserve(batch.map(chunkCount))
  const reserved = batch.flatMap((each, at): Reserved[] => (places[at] ? [{ ...each, ...places[at] }] : []))
  const published = new Map<PreparedDocument, Published>()
  try {
    await addVectors(index, reserved)
    for (const each of reserved) each.signal.throwIfAborted()
    const small = reserved.filter(({ prepared }) => prepared.rows.length === 1)
    const note = (all: readonly Reserved[], results: readonly Published[]) => {
      for (const [at, { prepared }] of all.entries()) if (results[at]) published.set(prepared, results[at])
    }
    if (small.length > 0) note(small, await publish(documents, index, small))
    for (const large of reserved) if (!small.includes(large)) note([large], await publishLarge(documents, index, large))
  } catch (error) {
    await removeLeftovers(
      drivers,
      async () => index.lists,
      reserved.map(({ generation }) => generation),
    )
    throw await explained(drivers, index, error)
  }
  const replaced = [...published.values()].flatMap((each) => each.replaced ?? [])
  if (replaced.length > 0) await removeLeftovers(drivers, async () => index.lists, replaced)
  return published
}

function publish(documents: DocumentStore, { collection }: CollectionIndex, all: readonly Reserved[]) {
  return documents.publish(
    collection.key,
    all.map((each) => lastOf(each)),
    collection.version,
  )
}

export async function addVectors({ lists }: CollectionIndex, batch: readonly Placed[]): Promise<void> {
  const written = lists.map((list) => addTo(list, batch))
  // When one fails, nothing may be added any more: the caller removes what was written.
  await Promise.allSettled(written)
  await Promise.all(written)
}

async function addTo({ name, table, embedder }: VectorList, batch: readonly Placed[]): Promise<void> {
  const { dimensions } = embedder.embedding
  const rows: VectorRow[] = []
  for (const { prepared, generation, firstChunk, signal } of batch) {
    const vectors = prepared.vectors.get(name)
    if (vectors) {
      for (let index = 0; index < prepared.chunkIds.length; index++)
        rows.push({
          chunk: firstChunk + index,
          generation,
          vector: vectors.subarray(index * dimensions, (index + 1) * dimensions),
        })
      continue
    }
    const { texts = [] } = prepared
    for (let from = 0; from < texts.length; from += chunksPerEmbedding) {
      const made = await embedder.embedTexts(texts.slice(from, from + chunksPerEmbedding), signal)
      for (const [at, vector] of made.entries()) rows.push({ chunk: firstChunk + from + at, generation, vector })
    }
  }
  for (let from = 0; from < rows.length; from += chunksPerTransaction)
    await table.add(rows.slice(from, from + chunksPerTransaction))
}

async function publishLarge(documents: DocumentStore, index: CollectionIndex, large: Reserved): Promise<Published[]> {
  const { generation, firstChunk } = large
  for (const rows of large.prepared.rows.slice(0, -1)) {
    large.signal.throwIfAborted()
    await documents.addChunks(index.collection.key, { generation, firstChunk, rows, newWords: [] })
  }
  return publish(documents, index, [large])
}

function chunkCount({ prepared }: Committable): number {
  return prepared.chunkIds.length
}

function lastOf(each: Reserved): NewChunks & { document: NewGeneration } {
  const { generation, firstChunk } = each
  const { rows, newWords } = each.prepared
  return { generation, firstChunk, rows: rows.at(-1) ?? noRows, newWords, document: current(each) }
}

function current({ document, generation }: Reserved): NewGeneration {
  return { ...document, generation }
}

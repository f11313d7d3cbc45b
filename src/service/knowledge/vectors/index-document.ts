import { AppError, isAppError } from '../../../core/error.ts'
import type { Collection, DocumentStore } from '../../../core/knowledge/document-store.ts'
import type { Embedder, Embedders, Embedding, VectorStore, VectorTable } from '../../../core/knowledge/drivers.ts'
import { hashedList, tokenList } from '../../../core/knowledge/lists.ts'
import { textToEmbed } from '../../../core/knowledge/text-to-embed.ts'
import type { Logger } from '../../../core/logger.ts'

/** Their model is of their version, and not configured. */
const builtIn = new Set<string>([hashedList, tokenList])
const chunksAtOnce = 500
const documentsAtOnce = 100

/** The vectors of a collection by one embedder. */
export interface VectorList {
  /** The provider of the embedder, which names the list in searches. */
  name: string
  table: VectorTable
  embedder: Embedder
  /** Generations whose vectors are not written yet. */
  missing: Set<number>
}

export interface CollectionIndex {
  collection: Collection
  /** By the collection's embedder, and by the one that every collection has besides. */
  lists: readonly VectorList[]
}

export interface IndexDrivers {
  documents: DocumentStore
  vectors: VectorStore
  embedders: Embedders
  logger: Logger
}

/** Of all vectors of a collection: those of its own embedder come first. */
export function embeddingsOf({ beside }: Pick<Embedders, 'beside'>, own: Embedding): Embedding[] {
  return own.provider === beside.provider ? [own] : [own, beside]
}

/** One name for each of `embeddingsOf`. */
export function tableNames(embedders: Pick<Embedders, 'beside'>, collection: Collection): string[] {
  const own = `k${collection.key}_v${collection.version}`
  return embeddingsOf(embedders, collection.embedding).map(({ model }, at) =>
    at === 0 ? own : `${own}_${model.replace(/[^A-Za-z0-9]/g, '_')}`,
  )
}

/**
 * Opens a collection's vectors and compares them with the current generations: unused vectors are removed, incomplete
 * generations are listed in `missing`. Throws `conflict` when the configuration asks for another embedder.
 */
export async function openIndex(drivers: IndexDrivers, collection: Collection): Promise<CollectionIndex> {
  assertSameEmbedder(drivers.embedders.configured, collection)
  const tables = await openTables(drivers, collection)
  for (const each of tables) each.missing = await missingIn(drivers, collection, each.table)
  return { collection, lists: await withEmbedders(drivers, tables) }
}

type ListTable = Omit<VectorList, 'embedder'> & { embedding: Embedding }

function openTables({ vectors, embedders }: IndexDrivers, collection: Collection): Promise<ListTable[]> {
  const names = tableNames(embedders, collection)
  return Promise.all(
    embeddingsOf(embedders, collection.embedding).map(async (embedding, at) => {
      const table = await vectors.table(names[at] ?? '', embedding.dimensions)
      return { name: embedding.provider, embedding, table, missing: new Set<number>() }
    }),
  )
}

/** Last, because they may be processes that have to be closed; only the first, the collection's own, can fail. */
async function withEmbedders({ embedders }: IndexDrivers, tables: readonly ListTable[]): Promise<VectorList[]> {
  const lists: VectorList[] = []
  for (const { embedding, ...list } of tables) lists.push({ ...list, embedder: await embedders.open(embedding) })
  return lists
}

export function assertSameEmbedder(configured: Embedders['configured'], collection: Collection): void {
  const { provider, model } = collection.embedding
  const named = configured.provider !== 'auto'
  if (!named || (configured.provider === provider && (builtIn.has(provider) || (configured.model ?? model) === model)))
    return
  const wanted = configured.model === undefined ? configured.provider : `${configured.provider} (${configured.model})`
  throw new AppError(
    'conflict',
    `The collection '${collection.name}' was embedded by ${provider} (${model}), but the configuration says ${wanted}. ` +
      `Run 'agentserve knowledge reindex --embedder ${configured.provider}', or set embedding.provider to 'auto'.`,
  )
}

/** Documents without some of their vectors. */
export function missingOf({ lists }: CollectionIndex): number {
  return new Set(lists.flatMap(({ missing }) => [...missing])).size
}

export async function closeEmbedders(index: CollectionIndex | undefined): Promise<void> {
  for (const { embedder } of index?.lists ?? []) await embedder.close()
}

/** The generations to embed. Other servers may be writing vectors, so those of unknown generations stay. */
export async function missingIn(
  { documents, vectors }: Pick<IndexDrivers, 'documents' | 'vectors'>,
  collection: Collection,
  table: VectorTable,
): Promise<Set<number>> {
  if (vectors.atomic && table.missing) return new Set(await table.missing())
  return compare(documents, collection, table)
}

async function compare(documents: DocumentStore, collection: Collection, table: VectorTable): Promise<Set<number>> {
  const current = new Map((await documents.generations(collection.key)).map((each) => [each.generation, each.chunks]))
  const held = await table.counts()
  const wrong = [...held].filter(([generation, count]) => current.get(generation) !== count)
  await table.removeGenerations(wrong.map(([generation]) => generation))
  return new Set([...current].filter(([generation, chunks]) => held.get(generation) !== chunks).map(([key]) => key))
}

/** Writes the vectors of generations that are still current at the end, into all of the lists. */
async function embedGenerations(
  documents: DocumentStore,
  lists: readonly Pick<VectorList, 'table' | 'embedder'>[],
  generations: Iterable<number>,
  signal: AbortSignal,
  progress: (chunks: number) => void,
  written: (generations: readonly number[]) => void = () => {},
): Promise<void> {
  const all = [...generations]
  for (let from = 0; from < all.length; from += documentsAtOnce) {
    const some = all.slice(from, from + documentsAtOnce)
    for (let after = 0; ; ) {
      signal.throwIfAborted()
      const chunks = await documents.chunksOf(some, after, chunksAtOnce)
      if (chunks.length === 0) break
      const texts = chunks.map(textToEmbed)
      for (const { embedder, table } of lists) {
        const vectors = await embedder.embedTexts(texts, signal)
        await table.add(
          chunks.map(({ key, generation }, at) => ({
            chunk: key,
            generation,
            vector: vectors[at] ?? new Float32Array(0),
          })),
        )
      }
      progress(chunks.length)
      after = chunks.at(-1)?.key ?? 0
    }
    const current = new Set(await documents.stillCurrent(some))
    const gone = some.filter((generation) => !current.has(generation))
    for (const { table } of lists) await table.removeGenerations(gone)
    written(some)
  }
}

/** Embeds what is missing, in the background; ends early when the signal aborts. */
export async function repair(drivers: IndexDrivers, index: CollectionIndex, signal: AbortSignal): Promise<void> {
  for (const list of index.lists) {
    try {
      const written = (generations: readonly number[]) => {
        for (const generation of generations) list.missing.delete(generation)
      }
      await embedGenerations(drivers.documents, [list], list.missing, signal, () => {}, written)
    } catch (error) {
      if (signal.aborted) return
      drivers.logger.error(
        { err: error, collection: index.collection.name, list: list.name, documents: list.missing.size },
        isAppError(error) ? error.message : 'missing vectors could not be written',
      )
    }
  }
}

/**
 * Embeds the whole collection into new tables beside the old ones. The caller then stops all writing of this server, and
 * `finish` replaces the old tables, including what was written meanwhile. `mayDrop`: nobody else is doing the same.
 */
export async function rebuild(
  drivers: IndexDrivers,
  collection: Collection,
  embedding: Embedding,
  {
    signal,
    progress,
    mayDrop,
  }: { signal: AbortSignal; progress: (chunks: number) => void; mayDrop: () => Promise<boolean> },
): Promise<{ finish(): Promise<CollectionIndex>; discard(): Promise<void> }> {
  const next = { ...collection, embedding, version: collection.version + 1 }
  const names = tableNames(drivers.embedders, next)
  for (const name of names) await drivers.vectors.drop(name)
  let lists: VectorList[] = []
  /** They may be the collection's already, by this reindexing or by that of a server which took this one for dead. */
  const areNobodys = async () =>
    (await mayDrop()) && (await drivers.documents.findCollection(collection.name))?.version === collection.version
  const drop = async () => {
    if (await areNobodys()) for (const name of names) await drivers.vectors.drop(name)
  }
  const discard = async () => {
    for (const { embedder } of lists) await embedder.close()
    await removing(drivers, collection, drop)
  }
  try {
    lists = await withEmbedders(drivers, await openTables(drivers, next))
    const current = await drivers.documents.generations(collection.key)
    const generations = current.map(({ generation }) => generation)
    await embedGenerations(drivers.documents, lists, generations, signal, progress)
  } catch (error) {
    await discard()
    throw error
  }
  const addMissing = async () => {
    for (const list of lists) {
      const missing = await missingIn(drivers, next, list.table)
      await embedGenerations(drivers.documents, [list], missing, signal, list === lists[0] ? progress : () => {})
    }
  }
  return {
    discard,
    async finish() {
      await addMissing()
      const changed = await drivers.documents.setEmbedding(collection.key, embedding, collection.version)
      // What other servers have published meanwhile; from now on they write into the new tables.
      if (drivers.vectors.atomic) await addMissing()
      await removing(drivers, changed, async () => {
        for (const name of await olderNames(drivers, changed)) await drivers.vectors.drop(name)
      })
      for (const { table } of lists) await table.compact()
      return { collection: changed, lists }
    },
  }
}

/** For vectors that no search asks for any more: what fails is told, and not thrown. */
async function removing({ logger }: IndexDrivers, { name }: Collection, drop: () => Promise<void>): Promise<void> {
  try {
    await drop()
  } catch (error) {
    const message = 'vectors of no use could not be removed: the next start or the next reindexing removes them'
    logger.warn({ err: error, collection: name }, message)
  }
}

/** The tables of all earlier versions of the collection. */
async function olderNames({ vectors, embedders }: IndexDrivers, collection: Collection): Promise<string[]> {
  const current = new Set(tableNames(embedders, collection))
  const own = new RegExp(`^k${collection.key}_v[0-9]+(?:_|$)`)
  return (await vectors.names()).filter((name) => own.test(name) && !current.has(name))
}

import { AppError, isAppError } from '../../core/error.ts'
import type { Collection, DocumentStore } from '../../core/knowledge/document-store.ts'
import type { Embedder, Embedders, Embedding, VectorStore, VectorTable } from '../../core/knowledge/drivers.ts'
import { textToEmbed } from '../../core/knowledge/text-to-embed.ts'
import type { Logger } from '../../core/logger.ts'

const chunksAtOnce = 500
const documentsAtOnce = 100

export interface CollectionIndex {
  collection: Collection
  table: VectorTable
  embedder: Embedder
  /** Generations whose vectors are not written yet. */
  missing: Set<number>
}

export interface IndexDrivers {
  documents: DocumentStore
  vectors: VectorStore
  embedders: Embedders
  logger: Logger
}

export const tableName = (collection: Collection) => `k${collection.key}_v${collection.version}`

/**
 * Opens a collection's vectors and compares them with the current generations: unused vectors are removed, incomplete
 * generations are listed in `missing`. Throws `conflict` when the configuration asks for another embedder.
 */
export async function openIndex(drivers: IndexDrivers, collection: Collection): Promise<CollectionIndex> {
  assertSameEmbedder(drivers.embedders.configured, collection)
  const table = await drivers.vectors.table(tableName(collection), collection.embedding.dimensions)
  const missing = await compare(drivers.documents, collection, table)
  return { collection, table, embedder: await drivers.embedders.open(collection.embedding), missing }
}

export function assertSameEmbedder(configured: Embedders['configured'], collection: Collection): void {
  const { provider, model } = collection.embedding
  const named = configured.provider !== 'auto'
  if (!named || (configured.provider === provider && (provider === 'lexical' || (configured.model ?? model) === model)))
    return
  const wanted = configured.model === undefined ? configured.provider : `${configured.provider} (${configured.model})`
  throw new AppError(
    'conflict',
    `The collection '${collection.name}' was embedded by ${provider} (${model}), but the configuration says ${wanted}. ` +
      `Run 'agentserve knowledge reindex --embedder ${configured.provider}', or set embedding.provider to 'auto'.`,
  )
}

async function compare(documents: DocumentStore, collection: Collection, table: VectorTable): Promise<Set<number>> {
  const current = new Map((await documents.generations(collection.key)).map((each) => [each.generation, each.chunks]))
  const held = await table.counts()
  const wrong = [...held].filter(([generation, count]) => current.get(generation) !== count)
  await table.removeGenerations(wrong.map(([generation]) => generation))
  return new Set([...current].filter(([generation, chunks]) => held.get(generation) !== chunks).map(([key]) => key))
}

/** Writes the vectors of generations that are still current at the end. */
async function embedGenerations(
  documents: DocumentStore,
  index: Pick<CollectionIndex, 'table' | 'embedder'>,
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
      const vectors = await index.embedder.embedTexts(chunks.map(textToEmbed), signal)
      await index.table.add(
        chunks.map(({ key, generation }, at) => ({
          chunk: key,
          generation,
          vector: vectors[at] ?? new Float32Array(0),
        })),
      )
      progress(chunks.length)
      after = chunks.at(-1)?.key ?? 0
    }
    const current = new Set(await documents.stillCurrent(some))
    await index.table.removeGenerations(some.filter((generation) => !current.has(generation)))
    written(some)
  }
}

/** Embeds what is missing, in the background; ends early when the signal aborts. */
export async function repair(drivers: IndexDrivers, index: CollectionIndex, signal: AbortSignal): Promise<void> {
  try {
    const written = (generations: readonly number[]) => {
      for (const generation of generations) index.missing.delete(generation)
    }
    await embedGenerations(drivers.documents, index, index.missing, signal, () => {}, written)
  } catch (error) {
    if (signal.aborted) return
    drivers.logger.error(
      { err: error, collection: index.collection.name, documents: index.missing.size },
      isAppError(error) ? error.message : 'missing vectors could not be written',
    )
  }
}

/**
 * Embeds the whole collection into a new table beside the old one. The caller then stops all writing, and `finish`
 * replaces the old table, including what was written meanwhile.
 */
export async function rebuild(
  drivers: IndexDrivers,
  collection: Collection,
  embedding: Embedding,
  signal: AbortSignal,
  progress: (chunks: number) => void,
): Promise<{ finish(): Promise<CollectionIndex>; discard(): Promise<void> }> {
  const name = tableName({ ...collection, version: collection.version + 1 })
  await drivers.vectors.drop(name)
  const table = await drivers.vectors.table(name, embedding.dimensions)
  const embedder = await drivers.embedders.open(embedding)
  const discard = async () => {
    await embedder.close()
    await drivers.vectors.drop(name)
  }
  const index = { table, embedder }
  try {
    const current = await drivers.documents.generations(collection.key)
    const generations = current.map(({ generation }) => generation)
    await embedGenerations(drivers.documents, index, generations, signal, progress)
  } catch (error) {
    await discard()
    throw error
  }
  return {
    discard,
    async finish() {
      const missing = await compare(drivers.documents, collection, table)
      await embedGenerations(drivers.documents, index, missing, signal, progress)
      const changed = await drivers.documents.setEmbedding(collection.key, embedding)
      await table.compact()
      await drivers.vectors.drop(tableName(collection))
      return { collection: changed, table, embedder, missing: new Set<number>() }
    },
  }
}

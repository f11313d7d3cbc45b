import { join, resolve } from 'node:path'
import { invalid } from '../core/error.ts'
import type { Chunker, Embedders, Preparer, Readers, Reranker, VectorStore } from '../core/knowledge/drivers.ts'
import { chunkers } from './chunkers/all.ts'
import { createEmbedders, type EmbedderOptions } from './embedders/all.ts'
import { createPreparer } from './preparing/preparer.ts'
import { readers } from './readers/all.ts'
import { crossEncoder, type RerankerOptions } from './rerankers/cross-encoder.ts'
import { lanceVectors } from './vectors/lancedb.ts'
import { memoryVectors } from './vectors/memory.ts'

export interface KnowledgeDriverOptions {
  vectorDb: {
    type: 'lancedb' | 'memory'
    baseUrl?: string | undefined
    database?: string | undefined
    tenant?: string | undefined
  }
  embedding: EmbedderOptions
  rerank?: Omit<RerankerOptions, 'cacheFolder' | 'root'> | undefined
  /** Used when `vectorDb.baseUrl` is not set. */
  dataFolder: string
  /** Base of a relative `baseUrl`; default: the working directory. */
  root?: string | undefined
}

export interface KnowledgeDrivers {
  readers: Readers
  chunkers: readonly Chunker[]
  embedders: Embedders
  reranker: Reranker | undefined
  preparer: Preparer
  vectors: VectorStore
  /** The file of the document store beside these vectors; `:memory:` for vectors in memory. */
  documentsPath: string
  availableVectorDbs: readonly string[]
}

const safeName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** The drivers of a knowledge base. Does no I/O and loads no library; `database` and `tenant` get a folder each. */
export function createKnowledgeDrivers(options: KnowledgeDriverOptions): KnowledgeDrivers {
  const folder = knowledgeFolder(options)
  const { cacheFolder } = options.embedding
  const inMemory = options.vectorDb.type === 'memory'
  return {
    readers,
    chunkers,
    embedders: createEmbedders(options.embedding),
    reranker: options.rerank && crossEncoder({ ...options.rerank, cacheFolder, root: options.root }),
    preparer: createPreparer(),
    vectors: inMemory ? memoryVectors() : lanceVectors({ folder: join(folder, 'vectors') }),
    documentsPath: inMemory ? ':memory:' : join(folder, 'knowledge.db'),
    availableVectorDbs: ['lancedb', 'memory', 'postgres'],
  }
}

function knowledgeFolder({ vectorDb, dataFolder, root }: KnowledgeDriverOptions): string {
  let folder = vectorDb.baseUrl === undefined ? join(dataFolder, 'knowledge') : resolve(root ?? '.', vectorDb.baseUrl)
  for (const field of ['tenant', 'database'] as const) {
    const name = vectorDb[field]
    if (name === undefined) continue
    if (!safeName.test(name)) throw invalid(`'${name}' must be 1–64 letters, digits, - and _`, `vectorDb.${field}`)
    folder = join(folder, `${field}-${name}`)
  }
  return folder
}

import { join } from 'node:path'
import { AppError } from '../../core/error.ts'
import type { Embedder, Embedding } from '../../core/knowledge/drivers.ts'
import { normalised } from './lexical.ts'
import { findModelFiles, isModelName, type ModelType } from './model-files.ts'
import { type EmbeddingProcess, type Lack, libraryLack, startEmbeddingProcess } from './transformers-process.ts'

export const defaultModel = 'Xenova/all-MiniLM-L6-v2'
/** Larger batches are no faster and need more memory. */
const batchSize = 8

/** The embedding of a cached model that can be run, else what is missing. */
export async function findModel(
  cacheFolder: string,
  model: string,
  type?: ModelType,
): Promise<Embedding | { lack: Lack }> {
  const lack = lackOf(model)
  if (lack !== undefined) return { lack }
  const files = await findModelFiles(join(cacheFolder, model), type)
  if (!files) return { lack: missingModel(model, cacheFolder, type) }
  return { provider: 'transformers', model, dimensions: files.dimensions }
}

/** Why no model of this name can be run, downloaded or not; undefined if one can. */
export function lackOf(model: string): Lack | undefined {
  if (isModelName(model)) return libraryLack()
  return { problem: `'${model}' is not a model name`, fix: 'write its name as owner/name' }
}

function missingModel(model: string, cacheFolder: string, type: ModelType | undefined): Lack {
  const name = type === undefined ? model : `${model} (${type})`
  const fix = 'agentserve knowledge reindex --embedder transformers'
  return { problem: `the model ${name} is not in ${cacheFolder}`, fix: `run '${fix}', which downloads it` }
}

interface Task {
  texts: readonly string[]
  resolve(vectors: Float32Array[]): void
  reject(error: unknown): void
}

/**
 * Sentence vectors by transformers.js in a child process, because its runtime blocks its thread and a broken model file
 * ends the process. The child starts with the first text, restarts once if it dies, and ends with this process. Queries
 * come before other texts.
 */
export function transformersEmbedder(options: {
  embedding: Embedding
  cacheFolder: string
  type?: ModelType | undefined
}): Embedder {
  const { model, dimensions } = options.embedding
  const queries: Task[] = []
  const batches: Task[] = []
  let child: Promise<EmbeddingProcess> | undefined
  let busy = false
  let closed = false

  const start = async (): Promise<EmbeddingProcess> => {
    const files = await findModelFiles(join(options.cacheFolder, model), options.type)
    if (!files) throw new AppError('unavailable', `The embedding model ${model} is not in ${options.cacheFolder}.`)
    return startEmbeddingProcess({ model, cacheFolder: options.cacheFolder, type: files.type })
  }
  const embed = async (texts: readonly string[]): Promise<Float32Array[]> => {
    for (let attempt = 1; ; attempt++) {
      if (closed) throw new AppError('unavailable', 'The knowledge base is closing.')
      child ??= start()
      const running = await child.catch((error: unknown) => {
        child = undefined
        throw error
      })
      try {
        return toVectors(await running.embed(texts), texts.length, dimensions)
      } catch (error) {
        if (running.alive()) throw error
        child = undefined
        if (attempt === 2) throw error
      }
    }
  }
  const work = async (): Promise<void> => {
    if (busy) return
    busy = true
    for (let task = queries.shift() ?? batches.shift(); task; task = queries.shift() ?? batches.shift())
      await embed(task.texts).then(task.resolve, task.reject)
    busy = false
  }
  const enqueue = (queue: Task[], texts: readonly string[]): Promise<Float32Array[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>()
    queue.push({ texts, resolve, reject })
    void work()
    return promise
  }

  return {
    embedding: options.embedding,
    async embedTexts(texts, signal) {
      const vectors: Float32Array[] = []
      for (let at = 0; at < texts.length; at += batchSize) {
        signal?.throwIfAborted()
        vectors.push(...(await enqueue(batches, texts.slice(at, at + batchSize))))
      }
      return vectors
    },
    async embedQuery(query, _frequencies, signal) {
      signal?.throwIfAborted()
      return (await enqueue(queries, [query]))[0] ?? new Float32Array(dimensions)
    },
    async close() {
      closed = true
      const running = await child?.catch(() => undefined)
      child = undefined
      await running?.close()
    },
  }
}

function toVectors(lists: readonly number[][], count: number, dimensions: number): Float32Array[] {
  if (lists.length !== count || lists.some((list) => list.length !== dimensions))
    throw new AppError(
      'unavailable',
      `The embedding model did not return one vector of ${dimensions} numbers per text.`,
    )
  return lists.map((list) => normalised(Float32Array.from(list)))
}

import { basename, dirname, join, resolve } from 'node:path'
import { AppError } from '../../core/error.ts'
import type { Reranker } from '../../core/knowledge/drivers.ts'
import { createSerial } from '../../runtime/serial.ts'
import { findModelFiles, isModelName, type ModelType, modelCacheFolder } from '../embedders/model-files.ts'
import { describeLack, libraryLack, type ModelProcess, startModelProcess } from '../embedders/transformers-process.ts'
import { crossEncoderProgram } from './cross-encoder-child.ts'

export interface RerankerOptions {
  /** `owner/name` in the cache, or a folder: a path that begins with `/`, `./` or `../`. */
  model: string
  candidates: number
  timeoutMs: number
  dtype?: ModelType | undefined
  /** Default: the user's cache. */
  cacheFolder?: string | undefined
  /** Default: 30 s. */
  pauseMs?: number | undefined
  /** Base of a folder; default: the working directory. */
  root?: string | undefined
}

/** Larger batches are no faster, and end later when nobody waits any more. */
const batchSize = 8
/** Models read the first few hundred tokens. */
const maxCharacters = 4_000
/** After a failure the model is not tried again for so long. */
const usualPauseMs = 30_000

/**
 * A cross-encoder by transformers.js in a child process, as sentence models are run. The child starts with the first search.
 */
export function crossEncoder(options: RerankerOptions): Reranker {
  const { pauseMs = usualPauseMs } = options
  const { name, folder } = placeOf(options)
  const serial = createSerial()
  let child: Promise<ModelProcess> | undefined
  let failure: { error: unknown; untilMs: number } | undefined
  let closed = false

  const find = async () => {
    if (!isModelName(name)) return { problem: `'${options.model}' is neither a model name (owner/name) nor a folder` }
    const lack = libraryLack()
    if (lack !== undefined) return { problem: describeLack(lack) }
    const files = await findModelFiles(join(folder, name), options.dtype)
    const type = options.dtype === undefined ? '' : ` (${options.dtype})`
    return files ?? { problem: `the model ${name}${type} is not in ${folder}` }
  }
  const start = async (): Promise<ModelProcess> => {
    const found = await find()
    if ('problem' in found) throw new AppError('unavailable', `The reranker can't be used: ${found.problem}.`)
    const place = { model: name, cacheFolder: folder, type: found.type }
    return startModelProcess(crossEncoderProgram, 'reranking model', place)
  }
  const running = async (): Promise<ModelProcess> => {
    if (closed) throw new AppError('unavailable', 'The knowledge base is closing.')
    child ??= start()
    const open = await child
    if (open.alive()) return open
    child = start()
    return child
  }
  const scoreBatch = async (query: string, texts: readonly string[]): Promise<number[]> => {
    if (failure !== undefined && performance.now() < failure.untilMs) throw failure.error
    try {
      const { vectors = [] } = await (await running()).ask({ query, texts })
      if (vectors.length !== texts.length) throw new AppError('unavailable', 'The reranking model gave too few scores.')
      return vectors.map(toScore)
    } catch (error) {
      failure = { error, untilMs: performance.now() + pauseMs }
      const open = await child?.catch(() => undefined)
      child = undefined
      await open?.close()
      throw error
    }
  }

  return {
    model: options.model,
    candidates: options.candidates,
    timeoutMs: options.timeoutMs,
    async problem() {
      const found = await find()
      return 'problem' in found ? found.problem : undefined
    },
    score: (query, texts, signal) =>
      serial.run(async () => {
        const scores: number[] = []
        for (let at = 0; at < texts.length; at += batchSize) {
          signal.throwIfAborted()
          const batch = texts.slice(at, at + batchSize).map((text) => text.slice(0, maxCharacters))
          scores.push(...(await scoreBatch(query.slice(0, maxCharacters), batch)))
        }
        return scores
      }),
    async close() {
      closed = true
      const open = await child?.catch(() => undefined)
      child = undefined
      await open?.close()
    },
  }
}

function placeOf({ model, cacheFolder, root }: RerankerOptions): { name: string; folder: string } {
  if (!/^\.{0,2}\//.test(model)) return { name: model, folder: cacheFolder ?? modelCacheFolder() }
  const path = resolve(root ?? '.', model)
  return { name: basename(path), folder: dirname(path) }
}

/** One number says how well a text answers; of two, the second does, against the first. */
function toScore(logits: readonly number[]): number {
  const [first = Number.NaN, second] = logits
  const score = 1 / (1 + Math.exp(-(second === undefined ? first : second - first)))
  if (logits.length <= 2 && Number.isFinite(score)) return score
  throw new AppError(
    'unavailable',
    `The reranking model is no cross-encoder: it gave ${logits.length} numbers for a text.`,
  )
}

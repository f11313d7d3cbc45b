import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../core/error.ts'
import type { Embedder, Embedding } from '../../core/knowledge-drivers.ts'
import { normalised } from './lexical.ts'
import { childProgram } from './transformers-child.ts'

export const defaultModel = 'Xenova/all-MiniLM-L6-v2'
const batchSize = 8
const modelName = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)?$/

/** Where models are kept for all projects of this user: `$XDG_CACHE_HOME/agentserve/models`. */
export function modelCacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'agentserve', 'models')
}

/** The embedding of a model that is in the cache and can be run, else what is missing. */
export async function findModel(cacheFolder: string, model: string): Promise<Embedding | { missing: string }> {
  if (!modelName.test(model)) return { missing: `'${model}' is not a model name (owner/name)` }
  if (libraryUrl() === undefined) return { missing: 'the package @huggingface/transformers is not installed' }
  const folder = join(cacheFolder, model)
  const dimensions = await hiddenSize(join(folder, 'config.json'))
  const weights = await readdir(join(folder, 'onnx')).catch(() => [] as string[])
  if (dimensions === undefined || !weights.some((file) => file.endsWith('.onnx')))
    return { missing: `the model ${model} is not in ${cacheFolder}` }
  return { provider: 'transformers', model, dimensions }
}

async function hiddenSize(path: string): Promise<number | undefined> {
  try {
    const config: unknown = JSON.parse(await readFile(path, 'utf8'))
    const size =
      typeof config === 'object' && config !== null && 'hidden_size' in config ? config.hidden_size : undefined
    return typeof size === 'number' && Number.isSafeInteger(size) && size > 0 && size <= 8192 ? size : undefined
  } catch {
    return undefined
  }
}

function libraryUrl(): string | undefined {
  try {
    return import.meta.resolve('@huggingface/transformers')
  } catch {
    return undefined
  }
}

/**
 * Sentence vectors by transformers.js in a child process, because its runtime blocks the thread it is on and a broken
 * model file ends the process. The child is started with the first text, once more if it dies, and goes with us.
 */
export function transformersEmbedder(options: { embedding: Embedding; cacheFolder: string; dtype?: string }): Embedder {
  let child: Promise<Child> | undefined
  let turn: Promise<unknown> = Promise.resolve()

  const start = (): Promise<Child> => {
    child ??= startChild(options).catch((error: unknown) => {
      child = undefined
      throw error
    })
    return child
  }
  const embedBatch = async (texts: readonly string[]): Promise<Float32Array[]> => {
    for (let attempt = 1; ; attempt++) {
      const running = await start()
      try {
        return await running.embed(texts)
      } catch (error) {
        if (running.alive()) throw error
        child = undefined
        if (attempt === 2) throw error
      }
    }
  }
  const embedTexts = async (texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = []
    for (let at = 0; at < texts.length; at += batchSize) {
      signal?.throwIfAborted()
      const batch = turn.then(() => embedBatch(texts.slice(at, at + batchSize)))
      turn = batch.catch(() => undefined)
      vectors.push(...(await batch))
    }
    return vectors
  }
  return {
    embedding: options.embedding,
    embedTexts,
    embedQuery: async (query, _frequencies, signal) => (await embedTexts([query], signal))[0] ?? new Float32Array(0),
    async close() {
      const running = await child?.catch(() => undefined)
      child = undefined
      await running?.close()
    },
  }
}

interface Child {
  embed(texts: readonly string[]): Promise<Float32Array[]>
  alive(): boolean
  close(): Promise<void>
}

interface Reply {
  id: number
  vectors?: number[][]
  error?: string
}

async function startChild(options: { embedding: Embedding; cacheFolder: string; dtype?: string }): Promise<Child> {
  const library = libraryUrl()
  if (library === undefined) throw unavailable('the package @huggingface/transformers is not installed')
  const process_ = spawn(process.execPath, ['--input-type=module', '--eval', childProgram], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  })
  const ask = questions(process_)
  const close = () =>
    new Promise<void>((resolve) => {
      if (process_.exitCode !== null || process_.signalCode !== null) return resolve()
      process_.once('exit', () => resolve())
      process_.kill()
    })
  try {
    await ask({
      type: 'load',
      library,
      model: options.embedding.model,
      cacheFolder: `${options.cacheFolder}/`,
      dtype: options.dtype ?? 'fp32',
      allowRemote: false,
    })
  } catch (error) {
    await close()
    throw error
  }
  return {
    alive: () => process_.exitCode === null && process_.signalCode === null && process_.connected,
    async embed(texts) {
      const { vectors } = await ask({ type: 'embed', texts })
      if (vectors?.length !== texts.length) throw unavailable('it did not give one vector for each text')
      return vectors.map((vector) => normalised(Float32Array.from(vector)))
    },
    close,
  }
}

function questions(child: ChildProcess): (message: object) => Promise<Reply> {
  const waiting = new Map<number, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>()
  let lastId = 0
  const end = (reason: string) => {
    for (const { reject } of waiting.values()) reject(unavailable(reason))
    waiting.clear()
  }
  child.on('message', (message) => {
    const reply = message as Reply
    const asked = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.error === undefined) asked?.resolve(reply)
    else asked?.reject(unavailable(reply.error))
  })
  child.on('error', (error) => end(error.message))
  child.on('exit', (code, signal) => end(`its process ended (${signal ?? code})`))
  return (message) =>
    new Promise((resolve, reject) => {
      if (!child.connected) return reject(unavailable('its process ended'))
      const id = ++lastId
      waiting.set(id, { resolve, reject })
      child.send({ ...message, id }, (error) => {
        if (error) end(error.message)
      })
    })
}

function unavailable(reason: string): AppError {
  return new AppError('unavailable', `The embedding model could not be run: ${reason}.`)
}

import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MockLanguageModelV4 } from 'ai/test'
import { AppError } from '../core/error.ts'
import { isModelObject, type ModelObject, type ModelSetting } from '../core/model.ts'
import { assertModel, resolveModel } from '../models/resolve.ts'
import { type CallOptions, type StreamPart, toGenerated, toStream } from '../runnables/again/answer-stream.ts'
import { createSerial } from '../runtime/serial.ts'
import { type RecordedPart, readFiles, writeFiles } from './recorded-files.ts'
import { lastUserText } from './scripted-model.ts'

export interface RecordedModelSettings {
  /** The real model. It is called only while recording. */
  model: ModelSetting
  /** The JSON file of the recordings: a path, or `new URL('…', import.meta.url)`. */
  file: string | URL
}

interface Recording {
  /** A hash of the call. The call itself is not in the file. */
  key: string
  /** The beginning of the latest message, for readers of the file. */
  about: string
  /** The answers to repetitions of the same call, in order. */
  answers: RecordedPart[][]
}
interface Cassette {
  agentserve: 'model-recording/1'
  model: string
  recordings: Recording[]
}

const variable = 'AGENTSERVE_RECORD'
const longestAbout = 80

/**
 * A model whose answers are recorded once and replayed from a file, without network and key. A call that is not recorded
 * fails and says how to record it. `AGENTSERVE_RECORD=1` calls the real model for missing calls, `=all` for all calls.
 * The file contains answers and a hash of each call, never headers or keys. Files that the model
 * makes are in a folder beside it.
 */
export function recordedModel({ model, file }: RecordedModelSettings): ModelObject {
  assertModel(model)
  const path = file instanceof URL ? fileURLToPath(file) : file
  const mode = process.env[variable] ?? ''
  const name = nameIn(model)
  const played = new Map<string, number>()
  let real: Promise<ModelObject> | undefined
  let opened: Promise<Cassette> | undefined
  const writes = createSerial()

  const open = () => {
    opened ??= mode === 'all' ? Promise.resolve(emptyCassette(name)) : readCassette(path, name)
    return opened
  }
  async function answer(options: CallOptions): Promise<StreamPart[]> {
    const cassette = await open()
    const key = keyOf(name, options)
    const place = played.get(key) ?? 0
    played.set(key, place + 1)
    const known = cassette.recordings.find((recording) => recording.key === key)
    const answers = known?.answers ?? []
    // If the call is repeated more often than recorded, the last answer is used again.
    const found = answers[place] ?? (mode === '' ? answers.at(-1) : undefined)
    if (found !== undefined) return readFiles(path, found)
    const about = lastUserText(options.prompt).replace(/\s+/g, ' ').slice(0, longestAbout)
    if (mode === '') throw missing(relative(process.cwd(), path), name, about)
    real ??= resolveModel(model)
    const parts = await callReal(await real, options)
    const recorded = await writeFiles(path, parts)
    if (known === undefined) cassette.recordings.push({ key, about, answers: [recorded] })
    else known.answers.push(recorded)
    await writes.run(() => write(path, cassette))
    return parts
  }
  return new MockLanguageModelV4({
    provider: 'recorded',
    modelId: name,
    doStream: async (options) => toStream(await answer(options)),
    doGenerate: async (options) => toGenerated(await answer(options)),
  })
}

async function callReal(model: ModelObject, options: CallOptions): Promise<StreamPart[]> {
  const { stream } = await (model as MockLanguageModelV4).doStream(options)
  const parts: StreamPart[] = []
  for await (const part of stream as unknown as AsyncIterable<StreamPart>) {
    if (part.type === 'error') throw part.error
    // Ids and times of the provider, and its answer word for word, are nobody's business here.
    if (part.type !== 'response-metadata' && part.type !== 'raw') parts.push(part)
  }
  return parts
}

/** The same for the same question, in any process: everything that shapes the answer, and nothing of how it is sent. */
function keyOf(model: string, options: CallOptions): string {
  const { headers, abortSignal, includeRawChunks, ...rest } = options
  const text = JSON.stringify([model, rest], (_name, value: unknown) => {
    if (value instanceof Uint8Array) return { bytes: createHash('sha256').update(value).digest('base64url') }
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof URL) return value
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
  return createHash('sha256').update(text).digest('base64url')
}

/** As in the files that there are; it is part of their keys. */
function nameIn(model: ModelSetting): string {
  if (typeof model === 'string') return model
  return isModelObject(model) ? `${model.provider}/${model.modelId}` : model.model
}

function emptyCassette(model: string): Cassette {
  return { agentserve: 'model-recording/1', model, recordings: [] }
}

async function readCassette(path: string, model: string): Promise<Cassette> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return emptyCassette(model)
    throw error
  }
  const cassette = parse(text) as Partial<Cassette> | undefined
  if (cassette?.agentserve !== 'model-recording/1' || !Array.isArray(cassette.recordings)) {
    throw new AppError('run_failed', `${path} is not a recording of a model. Delete it and record again.`)
  }
  return { ...emptyCassette(model), recordings: cassette.recordings }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whole or not at all. */
async function write(path: string, cassette: Cassette): Promise<void> {
  const recordings = cassette.recordings.toSorted((one, other) => (one.key < other.key ? -1 : 1))
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}.tmp`
  await writeFile(draft, `${JSON.stringify({ ...cassette, recordings }, undefined, 1)}\n`)
  await rename(draft, path)
}

function missing(path: string, model: string, about: string): AppError {
  const message =
    `${path} has no recording of this call of '${model}' (“${about}”): it was never recorded, or the prompt, the tools or the ` +
    `settings have changed since. Record it with the real model: ${variable}=1 and the same command.`
  return new AppError('run_failed', message)
}

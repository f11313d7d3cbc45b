import { type ChildProcess, spawn } from 'node:child_process'
import { AppError } from '../../core/error.ts'
import { transformersVersion } from '../../core/version.ts'
import type { ModelType } from './model-files.ts'
import { childProgram } from './transformers-child.ts'

export interface EmbeddingProcess {
  embed(texts: readonly string[]): Promise<number[][]>
  alive(): boolean
  close(): Promise<void>
}

/** A process that runs a model; its answer has a list of numbers for each text. */
export interface ModelProcess extends Omit<EmbeddingProcess, 'embed'> {
  ask(message: object): Promise<{ vectors?: number[][] }>
}

interface ModelPlace {
  model: string
  cacheFolder: string
  type: ModelType
}

interface Reply {
  id: number
  vectors?: number[][]
  error?: string
}

/** Timeout of loading a model, and of each batch. */
const patienceMs = 180_000

/** What is missing to run a model, and what to do about it. */
export interface Lack {
  problem: string
  fix: string
}

// Without scripts: that of its runtime downloads files for graphics cards.
const install = `npm install --save-exact --ignore-scripts @huggingface/transformers@${transformersVersion}`
const missingLibrary: Lack = {
  problem: 'the package @huggingface/transformers is not installed',
  fix: `run '${install}', then start again`,
}

/** Undefined when the package is there. */
export function libraryLack(): Lack | undefined {
  return libraryUrl() === undefined ? missingLibrary : undefined
}

export function describeLack({ problem, fix }: Lack): string {
  return `${problem}; ${fix}`
}

function libraryUrl(): string | undefined {
  try {
    return import.meta.resolve('@huggingface/transformers')
  } catch {
    return undefined
  }
}

/** Loads the model in its own process, which never goes online. Throws `unavailable` with the reason. */
export async function startEmbeddingProcess(place: ModelPlace): Promise<EmbeddingProcess> {
  const { ask, ...process } = await startModelProcess(childProgram, 'embedding model', place)
  return { ...process, embed: async (texts) => (await ask({ texts })).vectors ?? [] }
}

/** Runs a program that takes `load` first; `what` names its model in errors. */
export async function startModelProcess(program: string, what: string, options: ModelPlace): Promise<ModelProcess> {
  const unavailable = unavailableModel(what)
  const library = libraryUrl()
  if (library === undefined) throw unavailable(describeLack(missingLibrary))
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  })
  const ask = questions(child, unavailable)
  const alive = () => child.exitCode === null && child.signalCode === null && child.connected
  const close = () =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return resolve()
      child.once('exit', () => resolve())
      child.kill('SIGKILL')
    })
  try {
    const { model, type } = options
    await ask({ load: { library, model, type, cacheFolder: `${options.cacheFolder}/` } })
  } catch (error) {
    await close()
    throw error
  }
  return { alive, close, ask }
}

function questions(
  child: ChildProcess,
  unavailable: (reason: string) => AppError,
): (message: object) => Promise<Reply> {
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
  child.on('exit', (code, signal) => end(`its process ended (${signal ?? code}); a model file may be damaged`))
  return (message) => {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    if (!child.connected) return Promise.reject(unavailable('its process ended'))
    const id = ++lastId
    waiting.set(id, { resolve, reject })
    const timer = setTimeout(() => {
      end(`it took longer than ${patienceMs / 1000} s`)
      child.kill('SIGKILL')
    }, patienceMs)
    child.send({ ...message, id }, (error) => {
      if (error) end(error.message)
    })
    return promise.finally(() => clearTimeout(timer))
  }
}

const unavailableModel = (what: string) => (reason: string) =>
  new AppError('unavailable', `The ${what} could not be run: ${reason}.`)

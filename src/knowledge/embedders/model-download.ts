import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../core/error.ts'
import type { DownloadProgress } from '../../core/knowledge/drivers.ts'
import { type ModelType, modelFiles, weightsFile } from './model-files.ts'

export interface ModelDownload {
  /** `https://huggingface.co` or a mirror of it. */
  hub: string
  model: string
  type: ModelType
  cacheFolder: string
  progress?: ((progress: DownloadProgress) => void) | undefined
  signal?: AbortSignal | undefined
  /** How long the hub may send nothing. */
  stallMs?: number | undefined
  /** Throws when the download, in a cache folder of its own, can't be run. */
  verify(cacheFolder: string): Promise<void>
}

/**
 * Downloads a model into a folder of its own, tries it, and then moves it into the cache: the cache never holds half a
 * model. Throws `unavailable` with the reason, or the signal's reason.
 */
export async function downloadModel(download: ModelDownload): Promise<void> {
  const { cacheFolder, model, signal } = download
  await mkdir(cacheFolder, { recursive: true })
  const partial = await mkdtemp(join(cacheFolder, '.partial-'))
  try {
    await fetchFiles(download, join(partial, model))
    await download.verify(partial)
    const place = join(cacheFolder, model)
    await mkdir(dirname(place), { recursive: true })
    await rm(place, { recursive: true, force: true })
    await rename(join(partial, model), place)
  } catch (error) {
    signal?.throwIfAborted()
    throw failure(error, download)
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

async function fetchFiles(download: ModelDownload, folder: string): Promise<void> {
  const { EnvHttpProxyAgent, fetch } = await import('undici')
  const { stallMs = 30_000, signal = null } = download
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: stallMs },
    headersTimeout: stallMs,
    bodyTimeout: stallMs,
  })
  const seen = { loadedBytes: 0, totalBytes: 0 }
  try {
    for (const file of [...modelFiles, weightsFile(download.type)]) {
      const address = `${download.hub.replace(/\/+$/, '')}/${download.model}/resolve/main/${file}`
      const response = await fetch(address, { dispatcher, signal })
      if (response.status !== 200 || response.body === null) {
        await response.body?.cancel()
        throw new HubAnswer(response.status, file)
      }
      seen.totalBytes += Number(response.headers.get('content-length') ?? 0)
      const count = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          seen.loadedBytes += chunk.length
          download.progress?.({ ...seen, totalBytes: Math.max(seen.totalBytes, seen.loadedBytes), file })
          done(null, chunk)
        },
      })
      const path = join(folder, file)
      await mkdir(dirname(path), { recursive: true })
      await pipeline(Readable.fromWeb(response.body), count, createWriteStream(path), { signal: signal ?? undefined })
    }
  } finally {
    await dispatcher.destroy()
  }
}

class HubAnswer extends Error {
  readonly status: number
  readonly file: string

  constructor(status: number, file: string) {
    super(`it answered ${status} for ${file}`)
    this.status = status
    this.file = file
  }
}

function failure(error: unknown, { hub, model, type }: ModelDownload): AppError {
  if (errorCode(error) === 'ENOSPC')
    return new AppError('storage_full', `Not enough disk space for the model ${model}. Free some space, then retry.`, {
      cause: error,
    })
  const host = new URL(hub).host
  const said = `The model ${model} could not be downloaded from ${host}`
  if (error instanceof HubAnswer && [401, 403, 404].includes(error.status)) {
    const what = error.file.startsWith('onnx/') ? `no ${type} weights (${error.file})` : `no public model of that name`
    return new AppError('unavailable', `${said}: it has ${what}.`, { cause: error })
  }
  if (error instanceof AppError)
    return new AppError('unavailable', `${said}: the downloaded model can't be run. ${error.message}`, { cause: error })
  return new AppError('unavailable', `${said}: ${reasonOf(error)}.`, { cause: error })
}

function reasonOf(error: unknown): string {
  const code = errorCode(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT')
    return 'no data arrived for too long'
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') return 'the connection was lost'
  if (code !== undefined) return `it can't be reached (${code})`
  return error instanceof Error ? error.message : String(error)
}

/** The code of an error or of its cause, because `fetch` wraps errors. */
function errorCode(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = 'code' in each ? each.code : undefined
    if (typeof code === 'string' && code !== 'ABORT_ERR') return code
  }
  return undefined
}

import type { FilePart as SdkFilePart, ToolLoopAgentSettings } from 'ai'
import { AppError, messageOf } from '../../core/error.ts'
import type { FilePart } from '../../core/message.ts'
import type { RunContext } from '../../core/runnable.ts'
import { type Fetching, fetchFile } from './fetch.ts'
import { inlineFile, type Messages, mapFiles, mediaTypeOf } from './inline.ts'

type Download = NonNullable<ToolLoopAgentSettings['experimental_download']>

export type SdkFile = SdkFilePart & { mediaType: string }

interface SdkText {
  type: 'text'
  text: string
}

/** The name under which a checkpoint and a tool's result refer to a file of the session. */
const ours = 'agentserve'

/** The files between one run and its models: the session keeps the bytes, everything else in the record names them. */
export class ModelFiles {
  readonly #context: Pick<RunContext, 'files' | 'signal' | 'runId'>
  readonly #fetching: Fetching
  /** By hash: what this run has read or saved. */
  readonly #known = new Map<string, FilePart>()
  readonly #bytes = new Map<string, Promise<Uint8Array>>()
  readonly #fetched = new Map<string, Promise<FilePart>>()

  readonly #results = new WeakMap<object, Promise<unknown>>()

  constructor(context: Pick<RunContext, 'files' | 'signal' | 'runId'>, fetching: Fetching) {
    this.#context = context
    this.#fetching = fetching
  }

  /** A file of a message of this run, or of the run `runId`, for a model. */
  async toSdk(part: FilePart, runId?: string): Promise<SdkFile | SdkText> {
    const { media_type: mediaType, name: filename, file_id: fileId, url } = part
    const about = { type: 'file' as const, mediaType, ...(filename === undefined ? {} : { filename }) }
    if (fileId !== undefined) {
      const data = await (runId === undefined ? this.read(part) : this.#readOrSay(part))
      return typeof data === 'string' ? { type: 'text', text: data } : { ...about, data: { type: 'data', data } }
    }
    const stored = url === undefined ? undefined : await this.#findFetched(new URL(url).href, runId)
    if (stored !== undefined) return { ...about, data: { type: 'data', data: await this.read(stored) } }
    // Whether it has to be fetched depends on the model: the AI SDK asks `download`.
    return { ...about, data: { type: 'url', url: new URL(url ?? '') } }
  }

  /** The copy of a message's own run. A message of this run never gets that of another run: the file may have changed. */
  async #findFetched(url: string, runId: string | undefined): Promise<FilePart | undefined> {
    const { files, runId: present } = this.#context
    const own = await files.findFetched(url, runId ?? present)
    return own === undefined && runId !== undefined ? files.findFetched(url) : own
  }

  /** The content of a stored file. It is read once per run. */
  read(part: FilePart): Promise<Uint8Array> {
    const { file_id: fileId = '' } = part
    let reading = this.#bytes.get(fileId)
    if (reading === undefined) {
      reading = this.#context.files.read(part).then(async (bytes) => {
        this.#known.set(await hashOf(bytes), part)
        return bytes
      })
      reading.catch(() => this.#bytes.delete(fileId))
      this.#bytes.set(fileId, reading)
    }
    return reading
  }

  /** A file that is not the input may be gone: then the model is told so. */
  async #readOrSay(part: FilePart): Promise<Uint8Array | string> {
    try {
      return await this.read(part)
    } catch (error) {
      this.#context.signal.throwIfAborted()
      return `[The file '${part.name ?? part.file_id}' can't be read: ${messageOf(error)}]`
    }
  }

  /** The stored file with this content; saves it unless this run has done so. */
  async keep(bytes: Uint8Array, about: { mediaType?: string; name?: string; url?: string } = {}): Promise<FilePart> {
    const hash = await hashOf(bytes)
    const known = this.#known.get(hash)
    if (known !== undefined && about.url === undefined) return known
    const { mediaType, name, url } = about
    const file = await this.#context.files.save({
      bytes,
      media_type: soundType(mediaType) ?? mediaTypeOf(bytes) ?? 'application/octet-stream',
      ...(name === undefined ? {} : { name: name.slice(0, 255) }),
      ...(url === undefined ? {} : { url }),
    })
    this.#known.set(hash, file)
    if (file.file_id !== undefined) this.#bytes.set(file.file_id, Promise.resolve(bytes))
    return file
  }

  /** Does some work for a value of this run once. */
  once(value: object, work: () => Promise<unknown>): Promise<unknown> {
    let result = this.#results.get(value)
    if (result === undefined) {
      result = work()
      this.#results.set(value, result)
    }
    return result
  }

  /** What a tool told the model, with the bytes of stored files in place of their references. */
  async resolve<CONTENT extends { type: string }>(content: readonly CONTENT[]): Promise<(CONTENT | SdkText)[]> {
    return Promise.all(
      content.map(async (part) => {
        const { data: given, mediaType } = part as { data?: unknown; mediaType?: unknown }
        const fileId = fileIdIn(given)
        if (fileId === undefined) return part
        const data = await this.#readOrSay({ type: 'file', media_type: String(mediaType), file_id: fileId })
        return typeof data === 'string'
          ? { type: 'text' as const, text: data }
          : { ...part, data: { type: 'data', data } }
      }),
    )
  }

  /** The messages as the record of a pause holds them: with references in place of bytes. */
  async toReferences(messages: Messages): Promise<Messages> {
    const kept = new Map<unknown, FilePart>()
    for (const part of filesOf(messages)) {
      const file = inlineFile(part)
      if (file === undefined) continue
      const { mediaType, filename } = file
      kept.set(part, await this.keep(file.bytes(), { mediaType, ...(filename && { name: filename }) }))
    }
    return mapFiles(messages, (part) => {
      const file = kept.get(part)
      if (file === undefined) return part
      const { filename, mediaType = file.media_type, providerOptions } = part
      // A part with its content under another name becomes the same file under the usual one.
      const type = part.type === 'reasoning-file' ? part.type : 'file'
      const more = {
        ...(filename !== undefined && { filename }),
        ...(providerOptions !== undefined && { providerOptions }),
      }
      return { type, mediaType, ...more, data: referenceTo(file) }
    }) as Messages
  }

  /** The reverse of `toReferences`. */
  async restore(messages: Messages): Promise<Messages> {
    const contents = new Map<unknown, Uint8Array | string>()
    for (const part of filesOf(messages)) {
      const fileId = fileIdIn(part.data)
      if (fileId === undefined) continue
      contents.set(part, await this.#readOrSay({ type: 'file', media_type: '', file_id: fileId }))
    }
    return mapFiles(messages, (part) => {
      const data = contents.get(part)
      if (typeof data === 'string') return { type: 'text', text: data }
      if (data !== undefined) return { ...part, data: { type: 'data', data } }
      const { data: given } = part as { data?: { type?: unknown; url?: unknown } }
      // JSON has an address as text.
      return typeof given === 'object' && given?.type === 'url' && typeof given.url === 'string'
        ? { ...part, data: { ...given, url: new URL(given.url) } }
        : part
    }) as Messages
  }

  /** The messages with what is at their addresses. */
  async fetchAll(messages: Messages): Promise<Messages> {
    const contents = new Map<unknown, Uint8Array>()
    for (const part of filesOf(messages)) {
      const { type, url } = (part.data ?? {}) as { type?: unknown; url?: unknown }
      if (type === 'url') contents.set(part, await this.read(await this.#fetch(String(url))))
    }
    return mapFiles(messages, (part) => {
      const data = contents.get(part)
      return data === undefined ? part : { ...part, data: { type: 'data', data } }
    }) as Messages
  }

  /** The AI SDK's `experimental_download`: its own checks only literal addresses. */
  readonly download: Download = async (requests) =>
    Promise.all(
      requests.map(async ({ url, isUrlSupportedByModel }) => {
        if (isUrlSupportedByModel) return null
        const file = await this.#fetch(url.href)
        return { data: await this.read(file), mediaType: file.media_type }
      }),
    )

  /** Fetches a file once per run. */
  #fetch(url: string): Promise<FilePart> {
    let fetching = this.#fetched.get(url)
    if (fetching === undefined) {
      fetching = this.#fetchNow(url)
      fetching.catch(() => this.#fetched.delete(url))
      this.#fetched.set(url, fetching)
    }
    return fetching
  }

  async #fetchNow(url: string): Promise<FilePart> {
    // Before a pause, this run may have fetched it already.
    const before = await this.#context.files.findFetched(url, this.#context.runId)
    if (before !== undefined) return before
    if (!this.#fetching.isOn) throw notFetched(url)
    const { bytes, mediaType } = await fetchFile(url, this.#fetching, this.#context.signal)
    return this.keep(bytes, { url, ...(mediaType === undefined ? {} : { mediaType }) })
  }
}

/** The error for an address that the model does not accept while fetching is off. */
function notFetched(url: string): AppError {
  return new AppError(
    'run_failed',
    `The model does not accept the file's address ${url}, and \`server.files.fetchUrls\` is off. Send the file itself.`,
  )
}

export function referenceTo({ file_id: fileId = '' }: FilePart) {
  return { type: 'reference' as const, reference: { [ours]: fileId } }
}

function fileIdIn(data: unknown): string | undefined {
  const { type, reference } = (data ?? {}) as { type?: unknown; reference?: Record<string, unknown> }
  const fileId = type === 'reference' ? reference?.[ours] : undefined
  return typeof fileId === 'string' ? fileId : undefined
}

function filesOf(messages: Messages): (Record<string, unknown> & { type: string })[] {
  const files: (Record<string, unknown> & { type: string })[] = []
  mapFiles(messages, (part) => {
    files.push(part)
    return part
  })
  return files
}

/** Without parameters; undefined for anything but a whole media type. */
export function soundType(mediaType: string | undefined): string | undefined {
  const type = mediaType?.split(';', 1)[0]?.trim().toLowerCase()
  return type !== undefined && /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/.test(type) ? type : undefined
}

async function hashOf(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)
  return Buffer.from(digest).toString('base64url')
}

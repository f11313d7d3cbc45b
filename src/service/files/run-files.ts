import { AppError, notFound } from '../../core/error.ts'
import { runLimit, shownBytes } from '../../core/limits.ts'
import type { FilePart, UploadedFilePart } from '../../core/message.ts'
import type { RunRecord } from '../../core/run.ts'
import type { ProducedFile, SessionFiles } from '../../core/runnable.ts'
import type { SessionStore } from '../../core/store.ts'
import { contentOfUpload, type FileBounds, isUpload, problemOfFile } from './check.ts'
import { partOf, readWhole } from './content.ts'

type FilesOf = Pick<RunRecord, 'run_id' | 'session_id' | 'messages'>

/** Tries again while the store is away. */
type Patiently = <T>(use: () => Promise<T>) => Promise<T>

const atOnce: Patiently = (use) => use()

/** The files of a session, as one run of it reads and adds them. */
export class RunFiles implements SessionFiles {
  readonly #store: SessionStore
  readonly #bounds: FileBounds
  readonly #run: FilesOf
  readonly #patiently: Patiently
  /** Files of the run so far; unknown until it adds one. */
  #count: Promise<number> | undefined

  constructor(store: SessionStore, bounds: FileBounds, run: FilesOf, patiently: Patiently | undefined = atOnce) {
    this.#store = store
    this.#bounds = bounds
    this.#run = run
    this.#patiently = patiently
  }

  readonly read = async ({ file_id, url }: Pick<FilePart, 'file_id' | 'url'>): Promise<Uint8Array> => {
    if (file_id === undefined) {
      throw new AppError('file_not_found', `The session does not keep the file '${url ?? ''}'. Fetch it yourself.`)
    }
    const bytes = await this.#patiently(async () => {
      const file = await this.#store.findFile(this.#run.session_id, file_id)
      return file && readWhole(this.#store, file)
    })
    if (bytes === undefined) throw notFound('file', file_id)
    return bytes
  }

  readonly find = async (fileId: string): Promise<FilePart | undefined> => {
    const file = await this.#patiently(() => this.#store.findFile(this.#run.session_id, fileId))
    return file && partOf(file)
  }

  readonly findFetched = async (url: string, runId?: string): Promise<FilePart | undefined> => {
    const { session_id } = this.#run
    const file =
      runId === undefined
        ? await this.#store.findFetched(session_id, url)
        : (await this.#store.listFiles(runId)).find((one) => one.url === url && one.session_id === session_id)
    return file && partOf(file)
  }

  readonly save = async ({ media_type, name, url, bytes }: ProducedFile): Promise<FilePart> => {
    const { fileBytes } = this.#bounds
    if (bytes.byteLength > fileBytes) throw tooLarge(bytes.byteLength, fileBytes)
    // The part of the input that has the address is counted already.
    if (url === undefined) await this.#countOne()
    const { session_id, run_id } = this.#run
    const file = { session_id, run_id, media_type, name: name ?? null, url: url ?? null }
    const saved = await this.#patiently(() => this.#store.saveFile({ ...file, bytes }))
    return partOf({ ...file, ...saved })
  }

  /** The part to record for a file that code gives: its content is stored, or is in the session. Throws `run_failed` and `run_limit`. */
  async toPart(emitted: FilePart | UploadedFilePart, subject = 'The agent emitted a file'): Promise<FilePart> {
    const fail = (problem: string) => new AppError('run_failed', `${subject} ${problem}.`)
    const problem = problemOfFile(emitted)
    if (problem !== undefined) throw fail(`whose \`${problem.field}\` ${problem.message}`)
    if (!isUpload(emitted)) return this.#toKnownPart(emitted, fail)
    const { media_type, name, data } = emitted
    // Any size: `save` has the limit.
    const bytes = contentOfUpload(data, { ...this.#bounds, fileBytes: Number.POSITIVE_INFINITY })
    if ('field' in bytes) throw fail(`whose \`data\` ${bytes.message}`)
    return this.save({ media_type, ...(name !== undefined && { name }), bytes })
  }

  async #toKnownPart(part: FilePart, fail: (problem: string) => AppError): Promise<FilePart> {
    const { media_type, name, file_id, url } = part
    if (file_id === undefined) {
      if (url === undefined) throw fail('without `data`, `url` or `file_id`')
      return { type: 'file', media_type, ...(name !== undefined && { name }), url }
    }
    const found = typeof file_id === 'string' ? await this.find(file_id) : undefined
    if (found === undefined) throw fail(`'${String(file_id).slice(0, 100)}' that the session does not have`)
    return found
  }

  async #countOne(): Promise<void> {
    const { files } = this.#bounds.run
    const before = this.#count ?? this.#countPresent()
    this.#count = before.then((count) => count + 1)
    if ((await this.#count) > files) throw runLimit('run.files', String(files), 'It has more files')
  }

  /** Those of the input, and of a resumed run also those that it added before. */
  async #countPresent(): Promise<number> {
    const [input] = this.#run.messages
    const given = input?.parts.filter(({ type }) => type === 'file').length ?? 0
    const kept = (await this.#store.listFiles(this.#run.run_id)).filter(({ url }) => url === null)
    return Math.max(given, kept.length)
  }
}

function tooLarge(size: number, limit: number): AppError {
  return runLimit('fileSize', shownBytes(limit), `It has a file of ${shownBytes(size)}`)
}

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type ErrorCode, isAppError } from '../core/error.ts'
import type { FileContent } from '../core/knowledge/drivers.ts'
import { unreadable } from '../core/knowledge/filter.ts'
import type { DocumentRecord, IngestItem, IngestOutcome } from '../core/knowledge/knowledge.ts'
import { inParts } from '../runtime/batches.ts'
import { scanFile } from './file-content.ts'
import { sendAlone, sendPart } from './ingest-part.ts'

export type SourceItem = Pick<IngestItem, 'content' | 'content_hash'> & { source: string; name: string }

export interface IngestTarget {
  /** Ingests documents by content, or by hash alone to ask which contents are `needed`. */
  many(items: readonly SourceItem[]): Promise<readonly IngestOutcome[]>
  /** Ingests one content of any format. */
  one(source: string, bytes: Uint8Array): Promise<IngestOutcome>
  /** Ingests a file in pieces. Without it, every file is sent by `one`. */
  file?: ((source: string, file: FileContent) => Promise<IngestOutcome>) | undefined
  /** Throws `payload_too_large` if it would refuse a file of this size. */
  assertSize(bytes: number): void | Promise<void>
  /** Both throw `document_not_found`. */
  stored(documentId: string): Promise<Pick<DocumentRecord, 'updated_at'>>
  forget(documentId: string): Promise<unknown>
  /** Whether only one file failed and the others go on. Default: refusals and unreadable files. */
  isAboutFile?(error: unknown): boolean
}

export interface IngestFiles {
  /** Sources are relative to it. */
  root: string
  sources: readonly string[]
  /** Ingests nothing: a new or changed file is `needed`. */
  dryRun?: boolean | undefined
  signal: AbortSignal
}

const filesPerGroup = 200
const bytesPerGroup = 1_000_000
/** While one request waits, the next one of this size is read. */
const bytesPerPart = 250_000
const groupsAtOnce = 2
/** Larger files are sent alone, so that a refusal for size affects only them. */
const largeBytes = 200_000
/** A server's limit is asked for once a file is larger. */
const uncheckedBytes = 1_000_000
/** Larger files are read in pieces. */
const longBytes = 4_000_000

interface File {
  source: string
  bytes: Buffer
  hash: string
  changedMs: number
}

interface LongFile {
  source: string
  path: string
  changedMs: number
}

interface FailedFile {
  failed: IngestOutcome
  changedMs: number
}

/**
 * Ingests files that are new to the knowledge base; an unchanged file costs a hash. Yields one outcome per file, in no
 * fixed order. Throws an error that is not about one file.
 */
export async function* ingestFiles(
  target: IngestTarget,
  files: IngestFiles,
): AsyncGenerator<IngestOutcome, void, void> {
  const waiting: Promise<IngestOutcome[]>[] = []
  try {
    for await (const group of readGroups(target, files)) {
      if (Array.isArray(group)) waiting.push(ingestGroup(target, group, files))
      else if ('path' in group) yield await ingestLong(target, group, files)
      else yield files.dryRun ? group.failed : await withoutOld(target, group)
      if (waiting.length === groupsAtOnce) yield* (await waiting.shift()) ?? []
    }
    while (waiting.length > 0) yield* (await waiting.shift()) ?? []
  } finally {
    await Promise.allSettled(waiting)
  }
}

/** Yields groups of files for one request each, and the failures of unreadable files. */
async function* readGroups(
  target: IngestTarget,
  { root, sources, signal }: IngestFiles,
): AsyncGenerator<File[] | LongFile | FailedFile> {
  let group: File[] = []
  let groupBytes = 0
  for (const source of sources) {
    signal.throwIfAborted()
    let changedMs = Number.POSITIVE_INFINITY
    try {
      const path = resolve(root, source)
      const { size, ctimeMs } = statSync(path)
      changedMs = ctimeMs
      if (target.file || size > uncheckedBytes) await target.assertSize(size)
      if (target.file && size > longBytes) {
        yield { source, path, changedMs }
        continue
      }
      // For a small file a synchronous read takes a tenth of the time of four trips to a thread.
      const bytes = size > largeBytes ? await readFile(path) : readFileSync(path)
      assertFilled(source, bytes)
      group.push({ source, bytes, hash: createHash('sha256').update(bytes).digest('hex'), changedMs })
      groupBytes += bytes.length
    } catch (error) {
      yield { failed: toFailure(target, source, error), changedMs }
    }
    if (group.length === filesPerGroup || groupBytes > bytesPerGroup) {
      yield group
      group = []
      groupBytes = 0
    }
  }
  if (group.length > 0) yield group
}

const longestBlank = 65_536

/** Throws `unreadable_document` for nothing but white space, with or without a byte order mark. */
export function assertFilled(source: string, bytes: Uint8Array): void {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const isBlank = bytes.length <= longestBlank && bytes.subarray(isMarked ? 3 : 0).every((byte) => byte <= 0x20)
  if (isBlank) throw unreadable(source, 'it is empty')
}

async function ingestGroup(
  target: IngestTarget,
  group: readonly File[],
  { dryRun }: IngestFiles,
): Promise<IngestOutcome[]> {
  const send = (items: readonly SourceItem[]) => target.many(items)
  const hashes = group.map(({ source, hash }) => ({ source, name: source, content_hash: hash }))
  const known = await sendPart(send, hashes)
  if (dryRun) return [...known]
  const outcomes = new Map(known.map((outcome) => [outcome.source, named(outcome)]))
  const stored = new Map(known.map(({ source, document_id }) => [source, document_id]))
  const needed = group.filter(({ source }) => outcomes.get(source)?.outcome === 'needed')
  const isSmallText = ({ bytes }: File) => bytes.length <= largeBytes && isUtf8(bytes)
  const { together = [], alone = [] } = Object.groupBy(needed, (file) => (isSmallText(file) ? 'together' : 'alone'))
  const sent = inParts(together, bytesPerPart, ({ bytes }) => bytes.length).map(async (part) => {
    const items = part.map(({ source, bytes }) => ({ source, name: source, content: bytes.toString('utf8') }))
    for (const outcome of await sendPart(send, items)) {
      outcomes.set(outcome.source, named(ofFirst(outcome, stored.get(outcome.source) ?? null)))
    }
  })
  await Promise.allSettled(sent)
  await Promise.all(sent)
  for (const { source, bytes } of alone)
    outcomes.set(source, await ingestOne(target, source, () => sendAlone(source, () => target.one(source, bytes))))
  const settled = group.flatMap(({ source, changedMs }) => {
    const outcome = outcomes.get(source)
    return outcome ? forgetting(target, outcome, stored.get(source) ?? null, changedMs) : []
  })
  return Promise.all(settled)
}

/** Of content that was new: a request that was late had stored it, before it was sent again. */
function ofFirst(outcome: IngestOutcome, earlierId: string | null): IngestOutcome {
  if (outcome.outcome !== 'unchanged') return outcome
  return { ...outcome, outcome: earlierId === null ? 'added' : 'replaced' }
}

async function ingestLong(
  target: IngestTarget,
  { source, path, changedMs }: LongFile,
  { dryRun, signal }: IngestFiles,
): Promise<IngestOutcome> {
  let documentId: string | null = null
  const outcome = await ingestOne(target, source, async () => {
    const file = await scanFile(path, signal)
    const [known] = await target.many([{ source, name: source, content_hash: file.hash }])
    documentId = known?.document_id ?? null
    if (known !== undefined && (dryRun || known.outcome !== 'needed')) return named(known)
    return (
      (await target.file?.(source, file)) ?? sendAlone(source, async () => target.one(source, await readFile(path)))
    )
  })
  return dryRun ? outcome : forgetting(target, outcome, documentId, changedMs)
}

/** Of no content. */
const noHash = '0'.repeat(64)

/** The outcome of a file that failed before its content was known. */
async function withoutOld(target: IngestTarget, { failed, changedMs }: FailedFile): Promise<IngestOutcome> {
  if (!spoilt.has(failed.error?.code ?? '')) return failed
  const { source } = failed
  const [stored] = await target.many([{ source, name: source, content_hash: noHash }])
  return forgetting(target, failed, stored?.document_id ?? null, changedMs)
}

/** What a file fails with that can't be read as it is. */
const spoilt = new Set([
  'unreadable_document',
  'unsupported_media_type',
  'payload_too_large',
  'EACCES',
  'EISDIR',
  'ENOENT',
  'EPERM',
])

/** A file that fails leaves none of its earlier text, unless it is as it was when that was stored. */
async function forgetting(
  target: IngestTarget,
  outcome: IngestOutcome,
  documentId: string | null,
  changedMs: number,
): Promise<IngestOutcome> {
  const { error } = outcome
  if (documentId === null || error === undefined || !spoilt.has(error.code)) return outcome
  try {
    const { updated_at } = await target.stored(documentId)
    if (Date.parse(updated_at) > changedMs) return outcome
    await target.forget(documentId)
  } catch (missing) {
    if (!isAppError(missing) || missing.code !== 'document_not_found') throw missing
    return outcome
  }
  return {
    ...outcome,
    error: { ...error, message: `${error.message.replace(/\.$/, '')}. Its earlier text is deleted.` },
  }
}

/** The outcome of the work; `failed` when it throws an error about this file alone. */
export async function ingestOne(
  target: Pick<IngestTarget, 'isAboutFile'>,
  source: string,
  work: () => Promise<IngestOutcome>,
): Promise<IngestOutcome> {
  try {
    return await work()
  } catch (error) {
    return toFailure(target, source, error)
  }
}

const refusals = new Set<ErrorCode>([
  'invalid_request',
  'unreadable_document',
  'unsupported_media_type',
  'payload_too_large',
])

/** A failed outcome; rethrows an error that is not about this file alone. */
export function toFailure(target: Pick<IngestTarget, 'isAboutFile'>, source: string, error: unknown): IngestOutcome {
  const { code = 'internal', syscall, message } = error as NodeJS.ErrnoException
  const isFile = syscall !== undefined || (isAppError(error) && refusals.has(error.code))
  if (!isFile && target.isAboutFile?.(error) !== true) throw error
  const reason = { code, message: naming(source, syscall === undefined ? message : code) }
  return { source, outcome: 'failed', document_id: null, chunk_count: 0, error: reason }
}

function named(outcome: IngestOutcome): IngestOutcome {
  const { source, error } = outcome
  return error ? { ...outcome, error: { ...error, message: naming(source, error.message) } } : outcome
}

/** Every sentence about a file names it. */
function naming(source: string, message: string): string {
  if (message.includes(source)) return message
  // Readers name a file of a repository by its path alone.
  const [start = '', name] = /^(.+?) can't be read: /.exec(message) ?? []
  const reason = name !== undefined && source.endsWith(`/${name}`) ? message.slice(start.length) : message
  return `${source} can't be read: ${reason}`
}

export function toOutcome(
  source: string,
  made: { document_id: string; chunk_count: number; replaced: boolean; unchanged: boolean },
): IngestOutcome {
  const { document_id, chunk_count, replaced, unchanged } = made
  return { source, outcome: unchanged ? 'unchanged' : replaced ? 'replaced' : 'added', document_id, chunk_count }
}

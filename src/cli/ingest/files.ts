import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Client } from '../../client/client.ts'
import type { IngestSettings } from '../../client/knowledge.ts'
import { fileTooLarge, maxFileBytes } from '../../config/file-limit.ts'
import { type ErrorCode, isAppError } from '../../core/error.ts'
import type { IngestOutcome } from '../../core/knowledge/knowledge.ts'
import { inParts } from '../../runtime/batches.ts'

export interface FileResult {
  source: string
  outcome: 'added' | 'replaced' | 'unchanged' | 'skipped' | 'pruned'
  chunks: number
  /** Why it was skipped. */
  reason?: string
}

export interface IngestFiles {
  /** Where the sources start. */
  root: string
  sources: readonly string[]
  settings: IngestSettings
  /** Only tells what would be done. */
  dryRun?: boolean | undefined
  signal: AbortSignal
}

/** About this document alone; anything else stops the work. */
const skippable = new Set<ErrorCode>([
  'invalid_request',
  'unreadable_document',
  'unsupported_media_type',
  'payload_too_large',
])
const filesPerRequest = 200
const bytesPerRequest = 1_000_000
/** Of the contents of files, which the server reads while others wait for it. */
const bytesPerPart = 250_000
const groupsAtOnce = 2
/** What the server takes at the most is not known here; larger files go alone and are refused alone. */
const largeBytes = 200_000
/** Below this no server refuses a file for its size alone. */
const certainBytes = 1_000_000

interface File {
  source: string
  bytes: Buffer
  hash: string
}

/**
 * Sends what the server has not got yet, many small files a request; each is whole in the knowledge base or not there at
 * all. Unchanged files cost a hash.
 */
export async function* ingestFiles(client: Client, files: IngestFiles): AsyncGenerator<FileResult, void, void> {
  const waiting: Promise<FileResult[]>[] = []
  try {
    for await (const group of groups(client, files)) {
      if (Array.isArray(group)) waiting.push(ingestGroup(client, group, files))
      else yield group
      if (waiting.length === groupsAtOnce) yield* (await waiting.shift()) ?? []
    }
    while (waiting.length > 0) yield* (await waiting.shift()) ?? []
  } finally {
    await Promise.allSettled(waiting)
  }
}

/** Files that go together, and those that can't be read. */
async function* groups(client: Client, { root, sources, signal }: IngestFiles): AsyncGenerator<File[] | FileResult> {
  const limit = sizeLimit(client, signal)
  let group: File[] = []
  let groupBytes = 0
  for (const source of sources) {
    signal.throwIfAborted()
    try {
      // A small file read at once takes a tenth of the time that four trips to a thread take.
      const path = resolve(root, source)
      const { size } = statSync(path)
      if (size > certainBytes) await limit(size)
      const bytes = readFileSync(path)
      group.push({ source, bytes, hash: createHash('sha256').update(bytes).digest('hex') })
      groupBytes += bytes.length
    } catch (error) {
      yield { source, outcome: 'skipped', chunks: 0, reason: whySkipped(error) }
    }
    if (group.length === filesPerRequest || groupBytes > bytesPerRequest) {
      yield group
      group = []
      groupBytes = 0
    }
  }
  if (group.length > 0) yield group
}

async function ingestGroup(client: Client, group: readonly File[], files: IngestFiles): Promise<FileResult[]> {
  const { signal, settings } = files
  const { collection, ...each } = settings
  const asked = group.map(({ source, hash }) => ({ ...each, source, name: source, content_hash: hash }))
  const { results: known } = await client.knowledge.ingestMany({ documents: asked, collection }, { signal })
  const results = new Map(known.map((outcome) => [outcome.source, toResult(outcome)]))
  if (files.dryRun) return [...results.values()]
  const needed = group.filter(({ source }) => known.some((one) => one.source === source && one.outcome === 'needed'))
  const [together, alone] = split(needed, ({ bytes }) => bytes.length <= largeBytes && isUtf8(bytes))
  const send = async (part: readonly File[]) => {
    const contents = part.map(({ source, bytes }) => ({ source, name: source, content: bytes.toString('utf8') }))
    const documents = contents.map((content) => ({ ...each, ...content }))
    const { results: made } = await client.knowledge.ingestMany({ documents, collection }, { signal })
    for (const outcome of made) results.set(outcome.source, toResult(outcome))
  }
  const sent = inParts(together, bytesPerPart, ({ bytes }) => bytes.length).map(send)
  await Promise.allSettled(sent)
  await Promise.all(sent)
  for (const file of alone) results.set(file.source, await ingestContent(client, file, files))
  return group.flatMap(({ source }) => results.get(source) ?? [])
}

/** Sends one content whatever it is: only the server knows how to read it. */
export async function ingestContent(
  client: Client,
  { source, bytes, mediaType }: { source: string; bytes: Uint8Array; mediaType?: string | undefined },
  { settings, dryRun, signal }: Omit<IngestFiles, 'root' | 'sources'>,
): Promise<FileResult> {
  if (dryRun) return { source, outcome: 'added', chunks: 0 }
  try {
    const content = { bytes, filename: source, mediaType }
    const made = await client.knowledge.ingest(content, { ...settings, source }, { signal })
    const outcome = made.unchanged ? 'unchanged' : made.replaced ? 'replaced' : 'added'
    return { source, outcome, chunks: made.chunk_count }
  } catch (error) {
    return { source, outcome: 'skipped', chunks: 0, reason: whySkipped(error) }
  }
}

function toResult({ source, outcome, document_id, chunk_count, error }: IngestOutcome): FileResult {
  if (outcome === 'failed')
    return { source, outcome: 'skipped', chunks: 0, reason: error?.message ?? 'no reason given' }
  if (outcome === 'needed') return { source, outcome: document_id === null ? 'added' : 'replaced', chunks: 0 }
  return { source, outcome, chunks: chunk_count }
}

/** Rethrows what is not about one file. */
export function whySkipped(error: unknown): string {
  if (isAppError(error) && skippable.has(error.code)) return error.message
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall !== undefined && code !== undefined) return `it can't be read (${code})`
  throw error
}

/** Throws `payload_too_large` for more than the server takes, which is asked once. */
export function sizeLimit(client: Client, signal: AbortSignal): (bytes: number) => Promise<void> {
  let asked: Promise<number | undefined> | undefined
  return async (bytes) => {
    asked ??= client.knowledge.config({ signal }).then(
      ({ limits }) => limits.max_request_bytes,
      () => undefined,
    )
    const most = await asked
    signal.throwIfAborted()
    if (most !== undefined && bytes > most) throw fileTooLarge(bytes, most, ' (server.maxRequestSize)')
    if (bytes > maxFileBytes) throw fileTooLarge(bytes, maxFileBytes)
  }
}

function split<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  const { yes = [], no = [] } = Object.groupBy(all, (one) => (test(one) ? 'yes' : 'no'))
  return [yes, no]
}

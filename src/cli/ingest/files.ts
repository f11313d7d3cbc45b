import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Client } from '../../client/client.ts'
import type { IngestSettings } from '../../client/knowledge.ts'
import { unreadable } from '../../core/knowledge/filter.ts'
import type { IngestOutcome, Knowledge } from '../../core/knowledge/knowledge.ts'
import { fileTooLarge } from '../../sources/file-limit.ts'
import {
  assertFilled,
  type IngestFiles as Files,
  type IngestTarget,
  ingestFiles as ingest,
  ingestOne,
  toOutcome,
} from '../../sources/ingest.ts'
import type { Connection } from '../connect/connect.ts'

export interface FileResult {
  source: string
  outcome: 'added' | 'replaced' | 'unchanged' | 'skipped' | 'pruned'
  chunks: number
  reason?: string
}

export interface IngestFiles extends Files {
  settings: IngestSettings
  /** Of text that is not UTF-8. */
  encoding?: string | undefined
  own?: OwnKnowledge | undefined
}

/** The knowledge base of this process: files need not go through a request. */
export interface OwnKnowledge {
  knowledge: Knowledge
  /** In bytes. */
  maxFileSize: number
}

export function ownKnowledge(own: Connection['own']): OwnKnowledge | undefined {
  const knowledge = own?.server.services.knowledge
  return own && knowledge && { knowledge, maxFileSize: own.config.knowledge.maxFileSize }
}

/** Sends the files that the server does not have yet. Each file is ingested completely or not at all. */
export async function* ingestFiles(client: Client, files: IngestFiles): AsyncGenerator<FileResult, void, void> {
  const { settings, signal, own, encoding } = files
  const { collection, ...each } = settings
  const checkSize = own ? limitOf(own.maxFileSize, 'knowledge.maxFileSize') : sizeLimit(client, signal)
  const target: IngestTarget = {
    async many(items) {
      const documents = items.map((item) => ({ ...each, ...item }))
      return (await client.knowledge.ingestMany({ documents, collection }, { signal })).results
    },
    one: (source, bytes) => ingestBytes(client, { source, bytes }, files),
    stored: (documentId) => client.knowledge.documents.get(documentId, { signal }),
    forget: (documentId) => client.knowledge.documents.delete(documentId, { signal }),
    file:
      own &&
      ((source, file) =>
        own.knowledge.ingestFile({ ...settings, source, name: source, file, encoding }, signal, caller)),
    assertSize: checkSize,
  }
  for await (const outcome of ingest(target, files)) yield toResult(outcome)
}

/** Sends content of any type: only the server knows how to read it. */
export async function ingestContent(
  client: Client,
  content: { source: string; bytes: Uint8Array; mediaType?: string | undefined },
  options: Omit<IngestFiles, 'root' | 'sources'>,
): Promise<FileResult> {
  const { source } = content
  const work = options.dryRun ? askAboutBytes : ingestBytes
  return toResult(await ingestOne({}, source, () => work(client, content, options)))
}

/** What `ingestBytes` would do: `needed` for content that is new or has changed. */
export async function askAboutBytes(
  client: Client,
  { source, bytes, mediaType }: { source: string; bytes: Uint8Array; mediaType?: string | undefined },
  { settings, signal, encoding }: Omit<IngestFiles, 'root' | 'sources'>,
): Promise<IngestOutcome> {
  const { collection, ...each } = settings
  assertFilled(source, bytes)
  const content_hash = createHash('sha256')
    .update(inUtf8(source, bytes, encoding))
    .digest('hex')
  const item = { ...each, source, name: source, media_type: mediaType, content_hash }
  const { results } = await client.knowledge.ingestMany({ documents: [item], collection }, { signal })
  return results[0] ?? { source, outcome: 'needed', document_id: null, chunk_count: 0 }
}

/** Rejects when the server refuses. */
export async function ingestBytes(
  client: Client,
  { source, bytes, mediaType }: { source: string; bytes: Uint8Array; mediaType?: string | undefined },
  { settings, signal, encoding }: Omit<IngestFiles, 'root' | 'sources'>,
): Promise<IngestOutcome> {
  assertFilled(source, bytes)
  const content = { bytes: inUtf8(source, bytes, encoding), filename: source, mediaType }
  return toOutcome(source, await client.knowledge.ingest(content, { ...settings, source }, { signal }))
}

/** Text of the encoding as UTF-8 with a mark, which goes before what a page declares; anything else as it is. */
function inUtf8(source: string, bytes: Uint8Array, encoding: string | undefined): Uint8Array {
  if (encoding === undefined || isUtf8(bytes) || isBinary(bytes) || isMail.test(source)) return bytes
  try {
    return Buffer.from(`\ufeff${new TextDecoder(encoding, { fatal: true }).decode(bytes)}`)
  } catch {
    throw unreadable(source, `it can't be decoded as ${encoding}`)
  }
}

/** Its parts say how each is encoded. */
const isMail = /\.(?:eml|mbox)$/i

/** A document that says itself how it is encoded, or bytes that no text has. */
function isBinary(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 65_536)).toString('latin1')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells binary from text
  return /^(?:%PDF|PK\x03|\{\\rtf|From )|[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(head)
}

export function toResult({ source, outcome, document_id, chunk_count, error }: IngestOutcome): FileResult {
  if (outcome === 'failed')
    return { source, outcome: 'skipped', chunks: 0, reason: error?.message ?? 'no reason given' }
  if (outcome === 'needed') return { source, outcome: document_id === null ? 'added' : 'replaced', chunks: 0 }
  return { source, outcome, chunks: chunk_count }
}

/** Throws `payload_too_large` above the server's limit, which is requested once. */
export function sizeLimit(client: Client, signal: AbortSignal): (bytes: number) => Promise<void> {
  let asked: Promise<number | undefined> | undefined
  return async (bytes) => {
    asked ??= client.knowledge.config({ signal }).then(
      ({ limits }) => limits.max_request_bytes,
      () => undefined,
    )
    const maxBytes = await asked
    signal.throwIfAborted()
    if (maxBytes !== undefined) limitOf(maxBytes, requestLimit)(bytes)
  }
}

const requestLimit =
  'server.maxRequestSize of the running server; as one of its knowledge.sources, or while no server runs: knowledge.maxFileSize'

function limitOf(maxBytes: number, setting: string): (bytes: number) => void {
  return (bytes) => {
    if (bytes > maxBytes) throw fileTooLarge(bytes, maxBytes, setting)
  }
}

const caller = 'command'

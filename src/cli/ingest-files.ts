import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../client/client.ts'
import type { IngestSettings } from '../client/knowledge.ts'
import { type ErrorCode, isAppError } from '../core/error.ts'

export interface FileResult {
  source: string
  outcome: 'added' | 'replaced' | 'unchanged' | 'skipped'
  chunks: number
  /** Why it was skipped. */
  reason?: string
}

export interface IngestFiles {
  /** Where the sources start. */
  root: string
  sources: readonly string[]
  settings: IngestSettings
  signal: AbortSignal
}

/** About this document alone; anything else stops the work. */
const skippable = new Set<ErrorCode>([
  'invalid_request',
  'unreadable_document',
  'unsupported_media_type',
  'payload_too_large',
])

/** Sends files one by one; each is whole in the knowledge base or not there at all. */
export async function* ingestFiles(client: Client, files: IngestFiles): AsyncGenerator<FileResult, void, void> {
  const { root, sources, settings, signal } = files
  for (const source of sources) {
    signal.throwIfAborted()
    yield await ingestFile(client, join(root, source), { ...settings, source }, signal)
  }
}

async function ingestFile(
  client: Client,
  path: string,
  settings: IngestSettings & { source: string },
  signal: AbortSignal,
): Promise<FileResult> {
  const { source } = settings
  try {
    const content = { bytes: await readFile(path), filename: source }
    const { unchanged, replaced, chunk_count: chunks } = await client.knowledge.ingest(content, settings, { signal })
    return { source, outcome: unchanged ? 'unchanged' : replaced ? 'replaced' : 'added', chunks }
  } catch (error) {
    const reason = whySkipped(error)
    if (reason === undefined) throw error
    return { source, outcome: 'skipped', chunks: 0, reason }
  }
}

function whySkipped(error: unknown): string | undefined {
  if (isAppError(error)) return skippable.has(error.code) ? error.message : undefined
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR' ? `it can't be read (${code})` : undefined
}

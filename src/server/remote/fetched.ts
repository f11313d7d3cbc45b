import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Logger } from '../../core/logger.ts'

/** How to allow what the rules for addresses refuse. */
export const advice = {
  http: 'Set allowHttp of the source to fetch it.',
  private: 'Set allowPrivate of the source to fetch it.',
}

export interface FetchOptions {
  knowledge: Knowledge
  logger: Logger
  /** The data folder; undefined: nothing is kept. */
  folder: string | undefined
  settings: { collection?: string | undefined; chunk_size?: number | undefined; chunk_overlap?: number | undefined }
  /** Before a document is ingested. */
  onDocument(source: string): Promise<void>
  signal: AbortSignal
}

/** What a website or a repository has brought. */
export interface Fetched {
  /** By their sources, unchanged ones too, and those that failed: they are as they were. */
  documents: Set<string>
  /** How many of them could be had. */
  ingested: number
  /** A sentence for each that failed. */
  failures: string[]
  /** Whether a document that is not among these is gone. */
  isComplete: boolean
}

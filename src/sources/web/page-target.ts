import type { AppError } from '../../core/error.ts'
import type { DocumentRecord, IngestOutcome } from '../../core/knowledge/knowledge.ts'
import type { Validators } from '../../runtime/download.ts'

/** A page that is to be a document. */
export interface WebPage {
  source: string
  bytes: Uint8Array
  /** Without parameters. */
  mediaType: string | undefined
  validators: Validators
}

/** Where pages go: a knowledge base, here or behind a server. Rejects for what is not about one page alone. */
export interface PageTarget {
  find(source: string): Promise<DocumentRecord | undefined>
  /** The validators of the page that the document was made from; none if it would be made differently now. */
  validatorsOf(document: DocumentRecord): Validators
  ingest(page: WebPage): Promise<IngestOutcome>
  remove(document: DocumentRecord): Promise<void>
  /** Of all documents that may be pages. */
  sources(): AsyncIterable<string>
}

export type PageOutcome = Omit<IngestOutcome, 'outcome'> & { outcome: IngestOutcome['outcome'] | 'pruned' }

export function failedPage(source: string, { code, message }: AppError): PageOutcome {
  return { source, outcome: 'failed', document_id: null, chunk_count: 0, error: { code, message } }
}

export function pageOutcome(
  { source, document_id, chunk_count }: DocumentRecord,
  outcome: 'unchanged' | 'pruned',
): PageOutcome {
  return { source, outcome, document_id, chunk_count }
}

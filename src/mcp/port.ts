import type { Scope } from '../core/access/scope.ts'
import type { RunEvent, SourceEvent } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import type { Chunk, DocumentRecord, SearchQuery, SearchResult } from '../core/knowledge/knowledge.ts'
import type { Page, PageRequest } from '../core/page.ts'
import type { RunRecord } from '../core/run.ts'
import type { EntityInfo } from '../core/runnable.ts'
import type { Answer } from '../core/waiting.ts'

/** What hosts are offered: the agents, teams and workflows, in any order, and whether there is a knowledge base. */
export interface McpCatalog {
  readonly entities: readonly Pick<EntityInfo, 'id' | 'name' | 'description'>[]
  readonly knowledge: boolean
  /** Whether the host's model may approve tool calls of a run. */
  readonly approveByTool?: boolean | undefined
}

/** A run, as services and the typed client give it. */
export type McpRun = Pick<
  RunRecord,
  'run_id' | 'session_id' | 'status' | 'messages' | 'usage' | 'waiting' | 'error' | 'cancellation_reason'
> & { sources: readonly Omit<SourceEvent, 'type'>[] }

/** A run with its events, in batches, until its end or pause. A reader that leaves has no effect on it. */
export interface McpRunEvents {
  readonly runId: string
  readonly events: AsyncIterable<readonly RunEvent[]>
}

/** `filesToCome`: still to be ingested, when known; absent when there are none. */
export type McpSearchResult = Pick<SearchResult, 'results'> & {
  skipped?: SearchResult['skipped'] | undefined
  filesToCome?: number | undefined
}

/**
 * What an MCP host can do here, for one caller: data of others does not exist. Every error is an AppError. Abort ends what
 * is read, never a run.
 */
export interface McpPort {
  /** What a host that answers an elicitation must be again. */
  readonly caller: string
  /** What the caller may do; undefined: everything. */
  readonly scopes: ReadonlySet<Scope> | undefined
  /** The same object as long as nothing has changed: definitions of tools are kept by it. */
  catalog(): Promise<McpCatalog> | McpCatalog
  /** In the background. A session that does not exist is created. Its events from the first on. */
  start(run: { entityId: string; message: string; sessionId?: string | undefined }): Promise<McpRunEvents>
  /** Its events from the first on. */
  follow(runId: string, signal: AbortSignal): Promise<McpRunEvents>
  /** In the background. The events from the resumption on. */
  resume(runId: string, answer: Answer): Promise<McpRunEvents>
  run(runId: string): Promise<McpRun>
  cancel(runId: string, reason: string): Promise<McpRun>
  search(query: Pick<SearchQuery, 'query' | 'limit' | 'collection'>, signal: AbortSignal): Promise<McpSearchResult>
  document(documentId: string): Promise<DocumentRecord>
  /** The document's chunks in order. */
  chunks(documentId: string, page: PageRequest): Promise<Page<Chunk>>
  documents(page: PageRequest): Promise<Page<DocumentRecord>>
  /**
   * Keeps for a day what a question is about, by the state that the host brings back with the answer: for this caller, on every
   * instance. Absent where there is one process.
   */
  keepState?(state: string, about: Json): Promise<void>
  findState?(state: string): Promise<Json | undefined>
}

import { createHash } from 'node:crypto'
import { AppError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { McpCatalog, McpPort, McpRunEvents } from '../../mcp/port.ts'
import type { Registry, RunHandle, Services } from '../../service/services.ts'

export type McpServices = Pick<Services, 'registry' | 'runs' | 'knowledge' | 'bookmarks' | 'logger'>

/** What is there, as one object while it stays the same. Each look compares the entities, which is a few map reads. */
export function catalogOf(registry: Registry, knowledge: boolean): () => McpCatalog {
  let seen: readonly (readonly [id: string, entity: Runnable | undefined])[] = []
  let catalog: McpCatalog = { entities: [], knowledge }
  return () => {
    const ids = registry.ids()
    const isSame = ids.length === seen.length && seen.every(([id, entity]) => registry.find(id) === entity)
    if (!isSame) {
      seen = ids.map((id) => [id, registry.find(id)] as const)
      catalog = { entities: registry.list(), knowledge }
    }
    return catalog
  }
}

/** What the caller of a request can do, by the services that are the caller's. */
export class ServicesPort implements McpPort {
  readonly #services: McpServices
  readonly #request: Pick<HttpRequest, 'caller' | 'scopes'>
  readonly catalog: () => McpCatalog

  constructor(services: McpServices, request: Pick<HttpRequest, 'caller' | 'scopes'>, catalog: () => McpCatalog) {
    this.#services = services
    this.#request = request
    this.catalog = catalog
  }

  get caller() {
    return this.#request.caller
  }
  get scopes() {
    return this.#request.scopes
  }

  async keepState(state: string, about: Json): Promise<void> {
    await this.#services.bookmarks.add(this.#stateKey(state), about)
  }
  findState(state: string): Promise<Json | undefined> {
    return this.#services.bookmarks.find(this.#stateKey(state))
  }
  #stateKey(state: string): string {
    return `mcp state ${createHash('sha256').update(`${this.caller}\0${state}`).digest('hex')}`
  }

  async start({ entityId, message, sessionId }: Parameters<McpPort['start']>[0]): Promise<McpRunEvents> {
    const { runs } = this.#services
    return eventsOf(
      await runs.start({
        entityId,
        parts: [{ type: 'text', text: message }],
        sessionId,
        unknownSession: 'create',
        mode: 'background',
      }),
    )
  }
  async follow(runId: string, signal: AbortSignal): Promise<McpRunEvents> {
    return { runId, events: await this.#services.runs.events(runId, 0, signal) }
  }
  async resume(runId: string, answer: Parameters<McpPort['resume']>[1]): Promise<McpRunEvents> {
    const { approved, input, answers } = answer
    return eventsOf(
      await this.#services.runs.resume(runId, {
        approved,
        input,
        answers: answers && { ...answers },
        mode: 'background',
      }),
    )
  }
  run(runId: string) {
    return this.#services.runs.get(runId)
  }
  cancel(runId: string, reason: string) {
    return this.#services.runs.cancel(runId, reason)
  }
  search(query: Parameters<McpPort['search']>[0], signal: AbortSignal) {
    return this.#knowledge.search(query, signal)
  }
  document(documentId: string) {
    return this.#knowledge.getDocument(documentId)
  }
  chunks(documentId: string, page: Parameters<McpPort['chunks']>[1]) {
    return this.#knowledge.listChunks(documentId, page)
  }
  documents(page: Parameters<McpPort['documents']>[0]) {
    return this.#knowledge.listDocuments({}, page)
  }

  get #knowledge(): Knowledge {
    const { knowledge } = this.#services
    if (knowledge === undefined) throw new AppError('route_not_found', 'There is no knowledge base.')
    return knowledge
  }
}

function eventsOf(handle: RunHandle): McpRunEvents {
  return { runId: handle.runId, events: handle.events() }
}

import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import type { Answer } from '../../core/waiting.ts'
import type { McpCatalog, McpPort, McpRunEvents, McpSearchResult } from '../../mcp/port.ts'
import { within } from '../../runtime/abort.ts'
import type { Connection } from '../connect/connect.ts'
import type { Link } from './link.ts'

type ResumeRequest = NonNullable<Parameters<Client['runs']['resume']>[1]>

/** How long a search that finds nothing waits for files that are still to come. */
const patienceMs = 5_000
const pollMs = 250

export interface ClientPortOptions {
  link: Link
  catalog: () => Promise<McpCatalog>
  scopes: () => McpPort['scopes']
}

/** What an MCP host can do, through the typed client of a server: one that runs, or the one in this process. */
export function clientPort({ link, catalog, scopes }: ClientPortOptions): McpPort {
  return {
    caller: 'stdio',
    get scopes() {
      return scopes()
    },
    catalog,
    async start({ entityId, message, sessionId }) {
      const run = await link.with(({ client }) => startRun(client, entityId, message, sessionId))
      return { runId: run.run_id, events: eventsOf(link, run.run_id) }
    },
    async follow(runId, signal) {
      await link.with(({ client }) => client.runs.get(runId, { signal }))
      return { runId, events: eventsOf(link, runId, signal) }
    },
    async resume(runId, answer): Promise<McpRunEvents> {
      await link.with(({ client }) => client.runs.resume(runId, toRequest(answer)))
      return { runId, events: eventsOf(link, runId) }
    },
    run: (runId) => link.with(({ client }) => client.runs.get(runId)),
    cancel: (runId, reason) => link.with(({ client }) => client.runs.cancel(runId, reason)),
    search: ({ query, ...settings }, signal) =>
      link.with((connection) => searchPatiently(connection, query, settings, signal)),
    document: (documentId) => link.with(({ client }) => client.knowledge.documents.get(documentId)),
    chunks: (documentId, page) =>
      link.with(async ({ client }) => {
        const { chunks, next_cursor } = await client.knowledge.chunks(documentId, page)
        return { items: chunks, next: next_cursor }
      }),
    documents: (page) =>
      link.with(async ({ client }) => {
        const { documents, next_cursor } = await client.knowledge.documents.list({}, page)
        return { items: documents, next: next_cursor }
      }),
  }
}

async function startRun(client: Client, entityId: string, input: string, sessionId: string | undefined) {
  if (sessionId === undefined) return client.agents.background(entityId, { input })
  const start = () => client.agents.background(entityId, { input, session_id: sessionId })
  try {
    return await start()
  } catch (error) {
    if (!isAppError(error) || error.code !== 'session_not_found') throw error
  }
  try {
    await client.sessions.create({ session_id: sessionId })
  } catch (error) {
    // Another call has created it meanwhile.
    if (!isAppError(error) || error.code !== 'conflict') throw error
  }
  return start()
}

function toRequest(answer: Answer): ResumeRequest {
  // Both types have the same fields; JSON leaves out those that are undefined.
  return { ...(answer as ResumeRequest), background: true }
}

/** From the first event on. The connection is held as long as they are read. */
async function* eventsOf(
  link: Link,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly RunEvent[], void, void> {
  const { connection, end } = await link.use()
  try {
    for await (const event of await connection.client.runs.events(runId, { signal })) yield [event]
  } catch (error) {
    throw link.failed(connection, error)
  } finally {
    end()
  }
}

/** While files are read for the first time, an empty result waits for the first that has something. */
async function searchPatiently(
  { client, own }: Connection,
  query: string,
  settings: { limit?: number | undefined; collection?: string | undefined },
  signal: AbortSignal,
): Promise<McpSearchResult> {
  const server = own?.server
  const endsAt = performance.now() + patienceMs
  for (;;) {
    const filesToCome = server?.filesToCome()
    const { results, skipped } = await client.knowledge.search(query, settings, { signal })
    const leftMs = endsAt - performance.now()
    if (results.length > 0 || filesToCome === undefined || server === undefined || leftMs <= 0)
      return { results, skipped, filesToCome }
    await within(() => server.ingested(), { ms: Math.min(pollMs, leftMs), signal }).catch((error: unknown) => {
      signal.throwIfAborted()
      if (error !== undefined) throw error
    })
  }
}

/** What the connection's server offers, of these ids if there are any. */
export async function catalogOf({ client, own }: Connection, only: readonly string[]): Promise<McpCatalog> {
  const agents = await allowed(
    client.agents.list().then((list) => list.agents),
    [],
  )
  const entities = only.length === 0 ? agents : agents.filter(({ id }) => only.includes(id))
  if (own === undefined) return { entities, knowledge: await hasKnowledge(client) }
  const { services } = own.server
  const { mcp } = own.config.server
  return { entities, knowledge: services.knowledge !== undefined, approveByTool: mcp !== false && mcp.approveByTool }
}

async function hasKnowledge(client: Client): Promise<boolean> {
  const documents = client.knowledge.documents.list({}, { limit: 1 }).then(() => true)
  return allowed(documents, false)
}

/** What the key may not see, and what the server does not have, is not offered. */
async function allowed<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (isAppError(error) && (error.code === 'route_not_found' || error.code === 'forbidden')) return otherwise
    throw error
  }
}

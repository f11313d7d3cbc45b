import { type A2AClient, createA2AClient } from './a2a.ts'
import { type AdminClient, createAdminClient } from './admin.ts'
import { type AgentsClient, createAgentsClient } from './agents.ts'
import { createKnowledgeClient, type KnowledgeClient } from './knowledge.ts'
import { type LiveOptions, type LiveStream, openLive } from './live.ts'
import { openPageClient } from './page.ts'
import { withRenamed } from './renamed.ts'
import { createRunStreams } from './run-stream.ts'
import { createRunsClient, type RunsClient } from './runs.ts'
import { createSchedulesClient, type SchedulesClient } from './schedules.ts'
import { createServerClient, type ServerClient } from './server.ts'
import { createSessionsClient, type SessionsClient } from './sessions.ts'
import type { TestsClient } from './tests.ts'
import type { OpenTransport, Transport } from './transport/transport.ts'

export interface ClientOptions {
  /** The server, such as `http://127.0.0.1:8080`. Its path is put before every request path. Not needed with a `transport`. */
  url?: string | undefined
  /** Sent as a bearer token. */
  apiKey?: string | undefined
  /** Extra headers for every request. */
  headers?: Record<string, string> | undefined
  /** Used instead of undici. */
  fetch?: typeof globalThis.fetch | undefined
  /** Used instead of the network: `(request) => server.inject(request)`. */
  transport?: Transport | undefined
  /** Time limit of calls that wait for no model and no index. Default: 30,000. */
  timeoutMs?: number | undefined
  /**
   * Maximum number of retries in a row after a network error or a 429 or 503 answer. Only requests that are safe to repeat
   * are retried. Default: 2.
   */
  retries?: number | undefined
  /** A stream without data for this long counts as cut. The server sends a heartbeat every 15 s. Default: 60,000. */
  silenceMs?: number | undefined
  /** Default `/api/v1`. */
  prefix?: string | undefined
  /** Default `/api/v1/a2a`. */
  a2aPrefix?: string | undefined
  /** Default `/health`. */
  healthPath?: string | undefined
}

/** All operations of a server. Errors are AppErrors: a ServerError if the server answered, otherwise the reason why it did not. */
export interface Client extends ServerClient, AdminClient {
  agents: AgentsClient
  sessions: SessionsClient
  runs: RunsClient
  knowledge: KnowledgeClient
  schedules: SchedulesClient
  tests: TestsClient
  a2a: A2AClient
  /**
   * What changes: sessions, runs, and the events of followed runs. Reconnects and goes on where it was; a `reset` tells when the
   * lists must be read again. Nothing is sent before the first event is read.
   */
  live(options?: LiveOptions): LiveStream
  /** Aborts open requests. The client can't be used afterwards. */
  close(): Promise<void>
}

/** A client whose calls `transport` carries. `name`: of the server, in errors. */
export function clientOver(
  transport: OpenTransport,
  name: string,
  options: Omit<ClientOptions, 'url' | 'fetch' | 'transport'>,
): Client {
  const headers = lowerNames(options.headers)
  const { client, connection, prefix, events } = openPageClient(transport, name, { ...options, headers })
  const streams = createRunStreams(connection, prefix, events)
  return {
    ...client,
    live: (options) => openLive(connection, prefix, options),
    agents: createAgentsClient(connection, prefix, streams),
    sessions: createSessionsClient(connection, prefix),
    runs: withRenamed(createRunsClient(connection, prefix, streams.follow)),
    knowledge: createKnowledgeClient(connection, prefix),
    ...createAdminClient(connection, prefix),
    ...createServerClient(connection, prefix, options.healthPath ?? '/health'),
    schedules: createSchedulesClient(connection, prefix),
    a2a: createA2AClient(connection, options.a2aPrefix ?? '/api/v1/a2a'),
  }
}

/** Lower-case names, so that no header is sent twice. */
function lowerNames(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

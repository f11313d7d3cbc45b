import { type AgentsClient, createAgentsClient } from './agents.ts'
import type { ClientOptions } from './client.ts'
import { createKnowledgeClient, type KnowledgeClient } from './knowledge.ts'
import { type LiveOptions, type LiveStream, openLive } from './live.ts'
import { createRunStreams } from './run-stream.ts'
import { createRunsClient, type RunsClient } from './runs.ts'
import { readMe, type ServerClient } from './server.ts'
import { createSessionsClient, type SessionsClient } from './sessions.ts'
import { Connection } from './transport/connection.ts'
import type { OpenTransport } from './transport/transport.ts'

/** What a page in a browser needs, so that it need not load the rest. */
export interface PageClient extends Pick<ServerClient, 'me'> {
  agents: AgentsClient
  sessions: SessionsClient
  runs: RunsClient
  knowledge: KnowledgeClient
  /**
   * What changes: sessions, runs, and the events of followed runs. Reconnects and goes on where it was; a `reset` tells when the
   * lists must be read again. Nothing is sent before the first event is read.
   */
  live(options?: LiveOptions): LiveStream
  /** Aborts open requests. The client can't be used afterwards. */
  close(): Promise<void>
}

interface Opened {
  client: PageClient
  connection: Connection
  prefix: string
  silenceMs: number
}

type Settings = Pick<ClientOptions, 'apiKey' | 'headers' | 'timeoutMs' | 'retries' | 'silenceMs' | 'prefix'>

/** A client for a page, and what other clients of the same server are made of. `name`: of the server, in errors. */
export function openPageClient(transport: OpenTransport, name: string, options: Settings): Opened {
  const { apiKey: key, headers, timeoutMs = 30_000, retries = 2, silenceMs = 60_000, prefix = '/api/v1' } = options
  const connection = new Connection({
    transport: transport.send,
    name,
    key,
    headers: lowerNames(headers),
    timeoutMs,
    retries,
  })
  const streams = createRunStreams(connection, prefix, silenceMs)
  const client: PageClient = {
    agents: createAgentsClient(connection, prefix, streams),
    sessions: createSessionsClient(connection, prefix),
    runs: createRunsClient(connection, prefix, streams),
    knowledge: createKnowledgeClient(connection, prefix, silenceMs),
    me: (options) => readMe(connection, prefix, options),
    live: (options) => openLive(connection, prefix, silenceMs, options),
    close() {
      connection.close()
      return transport.close()
    },
  }
  return { client, connection, prefix, silenceMs }
}

/** Lower-case names, so that no header is sent twice. */
function lowerNames(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

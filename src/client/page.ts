import { createAgentsClient } from './agents.ts'
import type { Client, ClientOptions } from './client.ts'
import { createKnowledgeClient } from './knowledge.ts'
import { openLive } from './live.ts'
import { createRunStreams } from './run-stream.ts'
import { createRunsClient } from './runs.ts'
import { readMe } from './server.ts'
import { createSessionsClient } from './sessions.ts'
import { Connection } from './transport/connection.ts'
import type { OpenTransport } from './transport/transport.ts'

/** What a page in a browser needs, so that it need not load the rest. */
export type PageClient = Pick<Client, 'agents' | 'sessions' | 'runs' | 'knowledge' | 'me' | 'live' | 'close'>

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

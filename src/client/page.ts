import type { RunEvent } from '../core/event.ts'
import { createPageAgentsClient, type PageAgentsClient } from './agents.ts'
import type { Client, ClientOptions } from './client.ts'
import { createPageFactsClient, type PageFactsClient } from './facts.ts'
import { createPageKnowledgeClient, type PageKnowledgeClient } from './knowledge.ts'
import { type LiveRequest, readLive } from './live.ts'
import { createRunEvents, type RunEvents } from './run-events.ts'
import { createRunsClient, type RunsClientOver } from './runs.ts'
import { createPageSchedulesClient, type PageSchedulesClient } from './schedules.ts'
import { readMe } from './server.ts'
import { createPageSessionsClient, type PageSessionsClient } from './sessions.ts'
import { createTestsClient } from './tests.ts'
import { Connection } from './transport/connection.ts'
import type { OpenTransport } from './transport/transport.ts'

/** What a page in a browser needs, so that it need not load the rest. */
export interface PageClient extends Pick<Client, 'tests' | 'me' | 'close'> {
  agents: PageAgentsClient
  users: { facts: PageFactsClient }
  /** One connection: it is not opened again when it is cut. */
  live(request: LiveRequest): ReturnType<typeof readLive>
  sessions: PageSessionsClient
  knowledge: PageKnowledgeClient
  schedules: PageSchedulesClient
  runs: RunsClientOver<AsyncIterable<RunEvent>>
}

interface Opened {
  client: PageClient
  connection: Connection
  prefix: string
  events: RunEvents
}

type Settings = Pick<ClientOptions, 'apiKey' | 'headers' | 'timeoutMs' | 'retries' | 'silenceMs' | 'prefix'>

/**
 * A client for a page, and what other clients of the same server are made of. `name`: of the server, in errors. The names of
 * `headers` are in lower case.
 */
export function openPageClient(transport: OpenTransport, name: string, options: Settings): Opened {
  const { apiKey: key, headers, timeoutMs = 30_000, retries = 2, silenceMs = 60_000, prefix = '/api/v1' } = options
  const connection = new Connection({
    transport: transport.send,
    name,
    key,
    headers,
    timeoutMs,
    silenceMs,
    retries,
  })
  const events = createRunEvents(connection, prefix)
  const client: PageClient = {
    agents: createPageAgentsClient(connection, prefix),
    users: { facts: createPageFactsClient(connection, prefix) },
    sessions: createPageSessionsClient(connection, prefix),
    runs: createRunsClient(connection, prefix, async (runId, after, call) =>
      events.read(runId, await events.open(runId, after, call), after, call),
    ),
    knowledge: createPageKnowledgeClient(connection, prefix),
    tests: createTestsClient(connection, prefix),
    schedules: createPageSchedulesClient(connection, prefix),
    me: (options) => readMe(connection, prefix, options),
    live: (request) => readLive(connection, prefix, request),
    close() {
      connection.close()
      return transport.close()
    },
  }
  return { client, connection, prefix, events }
}

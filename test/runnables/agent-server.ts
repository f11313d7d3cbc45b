import type { ServerConfig } from '../../src/config/types.ts'
import type { RunEvent } from '../../src/core/event.ts'
import { startServer } from '../support/server.ts'

type Ask = { stream?: boolean; [field: string]: unknown }

/** These agents behind the real server: what one asked answers, and what is recorded of it. */
export async function serveAgents(entities: Record<string, object>, config: ServerConfig = {}) {
  const server = await startServer({ sessionStorage: 'memory', vectorDb: { type: 'memory' }, ...config }, entities)

  async function ask(agentId: string, input: unknown, { stream, ...more }: Ask = {}) {
    const path = `/api/v1/agents/${agentId}/run${stream === true ? '/stream' : ''}`
    const answer = await server.call('POST', path, { input, ...more })
    const runId: string | undefined =
      answer.headers.get('x-run-id') ?? answer.json?.run_id ?? answer.json?.error?.run_id
    return { ...answer, runId, streamed: stream === true ? parseEvents(answer.text) : [] }
  }

  async function events(runId: string | undefined): Promise<RunEvent[]> {
    return parseEvents((await server.call('GET', `/api/v1/runs/${runId}/events?include=prompts`)).text)
  }

  return { ...server, ask, events, [Symbol.asyncDispose]: () => server.close() }
}

export function parseEvents(text: string): RunEvent[] {
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data ?? '') as RunEvent)
}

export function typesOf(events: readonly RunEvent[]): string[] {
  return events.map(({ type }) => type)
}

export function eventsOf<TYPE extends RunEvent['type']>(events: readonly RunEvent[], type: TYPE) {
  return events.filter((event): event is Extract<RunEvent, { type: TYPE }> => event.type === type)
}

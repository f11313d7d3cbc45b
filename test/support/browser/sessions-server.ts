import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const at = '2026-01-01T00:00:00.000Z'
function toRun(turn: number) {
  return {
    run_id: `run_${turn}`,
    session_id: 'huge',
    parent_run_id: null,
    entity_id: 'say',
    entity_kind: 'agent',
    status: 'completed',
    created_at: at,
    started_at: at,
    completed_at: at,
    cancellation_reason: null,
    error: null,
    cache_hit: false,
    usage: null,
  }
}

const session = {
  session_id: 'huge',
  name: null,
  title: 'turn 0',
  entity_id: 'say',
  entity_kind: 'agent',
  user_id: null,
  status: 'completed',
  waiting: 0,
  usage: null,
  usage_by_model: [],
  cost: null,
  forked_from: null,
  created_at: at,
  updated_at: at,
}

export interface HugeServer {
  url: string
  /** How many runs have been read. */
  reads(): number
  close(): void
}

/** A server with one session of so many runs, two messages each, which no database has to be filled with. */
export async function serveHugeSession(runCount: number): Promise<HugeServer> {
  let reads = 0
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const [, turn, events] = /\/runs\/run_(\d+)(\/events)?$/.exec(pathname) ?? []
    if (turn !== undefined && events !== undefined) sendEvents(response, Number(turn))
    else if (turn !== undefined) {
      reads++
      send(response, {
        ...toRun(Number(turn)),
        messages: [{ role: 'user', parts: [{ type: 'text', text: `turn ${turn}` }], content: `turn ${turn}` }],
      })
    } else if (pathname.endsWith('/sessions')) {
      send(response, { sessions: [{ ...session, run_count: runCount }], count: 1, total: 1, next_cursor: null })
    } else {
      const from = Number(searchParams.get('cursor') ?? runCount)
      const count = Math.min(from, Number(searchParams.get('limit')))
      const runs = Array.from({ length: count }, (_, place) => toRun(from - 1 - place))
      send(response, { runs, count, next_cursor: from === count ? null : String(from - count) })
    }
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reads: () => reads,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function send(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function sendEvents(response: ServerResponse, turn: number): void {
  const events = [
    { type: 'run_start', session_id: 'huge', entity_id: 'say', entity_kind: 'agent' },
    { type: 'text_delta', text: `Answer ${turn}.` },
    { type: 'run_end', status: 'completed', usage: null, cache_hit: false },
  ]
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const frames = events.map((event, place) => {
    const data = JSON.stringify({ ...event, run_id: `run_${turn}`, seq: place + 1, at })
    return `id: ${place + 1}\nevent: ${event.type}\ndata: ${data}\n\n`
  })
  response.end(frames.join(''))
}

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a path of a site answers; a text is an HTML page. */
export type SitePage =
  | string
  | { status?: number; headers?: Record<string, string>; body?: string | Buffer }
  | ((request: IncomingMessage, response: ServerResponse) => void)

export interface TestSite {
  url: string
  pages: Map<string, SitePage>
  /** What was asked for since the last call, as `status path`, in order. */
  asked(): string[]
  /** How often each status was answered since the last call; robots.txt does not count. */
  statuses(): Record<number, number>
  /** The User-Agents that came. */
  agents: Set<string | undefined>
  /** Resolves when so many requests have come in all. */
  reached(requests: number): Promise<void>
  close(): Promise<void>
}

/** A site on loopback. Each of its pages has an ETag by its content, and 304 is answered for it. */
export async function openSite(given: Record<string, SitePage>): Promise<TestSite> {
  const pages = new Map(Object.entries(given))
  let log: { status: number; path: string }[] = []
  let count = 0
  const waiting: { requests: number; done: () => void }[] = []
  const agents = new Set<string | undefined>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    agents.add(request.headers['user-agent'])
    response.once('finish', () => {
      log.push({ status: response.statusCode, path })
      count++
      for (const { requests, done } of waiting) if (count >= requests) done()
    })
    answer(pages.get(path), request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const take = () => {
    const taken = log
    log = []
    return taken
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    agents,
    asked: () => take().map(({ status, path }) => `${status} ${path}`),
    statuses() {
      const counts: Record<number, number> = {}
      for (const { status, path } of take()) if (path !== '/robots.txt') counts[status] = (counts[status] ?? 0) + 1
      return counts
    },
    reached: (requests) =>
      new Promise((done) => {
        if (count >= requests) done()
        else waiting.push({ requests, done })
      }),
    close: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  }
}

function answer(page: SitePage | undefined, request: IncomingMessage, response: ServerResponse): void {
  if (typeof page === 'function') {
    page(request, response)
    return
  }
  const {
    status = page === undefined ? 404 : 200,
    headers = {},
    body = '',
  } = typeof page === 'string' ? { body: page } : (page ?? {})
  const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`
  if (status === 200 && request.headers['if-none-match'] === etag) response.writeHead(304).end()
  else
    response
      .writeHead(status, {
        'content-type': 'text/html; charset=utf-8',
        ...(status === 200 ? { etag } : {}),
        ...headers,
      })
      .end(body)
}

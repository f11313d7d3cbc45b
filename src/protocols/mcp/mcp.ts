import type { McpHttpHandler } from '@modelcontextprotocol/server'
import { AppError, invalid } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import { fromWeb } from '../../http/from-web.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { Method, Route } from '../../http/router.ts'
import { createMcpFactory } from '../../mcp/factory.ts'
import type { McpPort } from '../../mcp/port.ts'
import type { Registry } from '../../service/services.ts'
import { mcpError } from './error.ts'
import { catalogOf, type McpServices, ServicesPort } from './port.ts'
import { stateKey } from './state-key.ts'

export interface McpSettings {
  path: string
  approveByTool: boolean
  version: string
  services: (request: HttpRequest) => McpServices
  registry: Registry
  /** There is a knowledge base, and its search and documents are on. */
  knowledge: boolean
  /** Where what must survive a restart is kept. */
  folder: string | undefined
  /** Anyone who reaches the server's address could call it: no keys, and not only this machine. */
  isOpen: boolean
  logger: Logger
}

export interface McpEndpoint {
  routes: Route[]
  /** Tells hosts that listen that there are other agents. */
  agentsChanged(): void
  /** Ends the streams of hosts that listen. */
  close(): void
}

const keepAliveMs = 15_000
/** Of a batch, as hosts of 2025-03-26 could send it. */
const mostCalls = 100

/** `POST /mcp` for both eras of the protocol. The SDK is loaded by the first request. */
export function createMcp(settings: McpSettings): McpEndpoint {
  const { path, registry, knowledge, logger, isOpen } = settings
  const catalog = catalogOf(registry, knowledge)
  const closing = new AbortController()
  let handler: McpHttpHandler | undefined
  let loading: Promise<McpHttpHandler> | undefined

  async function load(): Promise<McpHttpHandler> {
    const { approveByTool, version, folder } = settings
    const [{ createMcpHandler }, factory] = await Promise.all([
      import('@modelcontextprotocol/server'),
      stateKey(folder).then((key) =>
        createMcpFactory({
          version,
          approveByTool,
          transport: 'http',
          stateKey: key,
          port: ({ authInfo }) => authInfo?.extra?.port as McpPort,
          onFailure: (error) => logger.error({ error }, 'a call of an MCP host failed'),
        }),
      ),
    ])
    handler = createMcpHandler(factory, { responseMode: 'sse', keepAliveMs })
    return handler
  }

  function loaded(): Promise<McpHttpHandler> {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }

  const serve = fromWeb(
    async (request, original) => {
      const body = await original.body.json()
      if (Array.isArray(body) && body.length > mostCalls) throw invalid(`A batch has at most ${mostCalls} calls.`)
      original.body.release?.()
      const { fetch } = handler ?? (await loaded())
      // The SDK refuses who does not name both, though nothing else can be answered.
      request.headers.set('accept', 'application/json, text/event-stream')
      const port = new ServicesPort(settings.services(original), original, catalog)
      const authInfo = { token: '', clientId: original.caller, scopes: [], extra: { port } }
      return fetch(listens(body) ? untilClosed(request) : request, { authInfo, parsedBody: body })
    },
    { readsOriginal: true, needsHeader },
  )

  /** Nothing else would end the stream of a host that listens: it has no run. */
  function untilClosed(request: Request): Request {
    return new Request(request, { signal: AbortSignal.any([request.signal, closing.signal]) })
  }

  function post(request: HttpRequest) {
    if (isOpen && request.remoteAddress !== undefined) {
      throw new AppError(
        'forbidden',
        'Without keys the MCP server works on an address of this machine alone. Set `auth: { keys: [...] }` or AGENTSERVE_API_KEYS.',
      )
    }
    return serve(request)
  }

  const refuse = ({ method }: HttpRequest): never => {
    throw new AppError('method_not_allowed', `Send POST, not ${method}.`, { allow: ['POST'] })
  }
  const same = { path, scope: 'any', onError: mcpError } as const
  const others: Method[] = ['GET', 'DELETE']

  return {
    routes: [
      // A call may wait for its run longer than other requests, and says so itself.
      { ...same, method: 'POST', handler: post, takesLong: true },
      ...others.map((method): Route => ({ ...same, method, handler: refuse })),
    ],
    agentsChanged: () => handler?.notify.toolsChanged(),
    close: () => closing.abort(),
  }
}

/** Not the key: the SDK has no use for it. */
function needsHeader(name: string): boolean {
  return name === 'content-type' || name.startsWith('mcp-')
}

function listens(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === 'subscriptions/listen'
}

import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  McpRequestContext,
  McpServerFactory,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server'
import type { Scope } from '../core/access/scope.ts'
import { AppError, toAppError } from '../core/error.ts'
import { GivenArguments } from './arguments.ts'
import { documentTemplate, listDocuments, readDocument } from './documents.ts'
import { type Asked, answerOf, formsOf, keyOf } from './elicit.ts'
import type { McpCatalog, McpPort, McpRun } from './port.ts'
import type { CallHost } from './runs.ts'
import { type McpTool, toolsOf } from './tools.ts'

export interface McpFactoryOptions {
  version: string
  /** Whether the host's model may approve tool calls of a run, unless the catalog says it. */
  approveByTool: boolean
  transport: 'http' | 'stdio'
  /** At least 32 bytes, the same after a restart: it signs what comes back with a person's answer. */
  stateKey: Uint8Array
  /** The port of who makes the request. */
  port: (context: McpRequestContext) => McpPort
  /** A failure that the host is only told of as an internal error. */
  onFailure: (error: unknown) => void
}

/** What a host brings back with a person's answers. */
interface State {
  tool: string
  run: string
  asked: Asked[]
}

/** A day: who was asked may come back later. */
const stateSeconds = 86_400
const listMs = 60_000
const instructions =
  'Agents that answer questions (ask…), and documents to search. A result with a status other than completed says what to call next.'

/**
 * Makes a server per request (HTTP) or connection (stdio), in both eras of the protocol. Loads the SDK. What is listed is made once
 * per catalog.
 */
export async function createMcpFactory(options: McpFactoryOptions): Promise<McpServerFactory> {
  const { version, approveByTool, transport, stateKey, port: portOf, onFailure } = options
  const sdk = await import('@modelcontextprotocol/server')
  const callers = new WeakMap<ServerContext['mcpReq'], string>()
  const codec = sdk.createRequestStateCodec<State>({
    key: stateKey,
    ttlSeconds: stateSeconds,
    bind: ({ mcpReq }) => callers.get(mcpReq) ?? '',
  })
  const made = new WeakMap<McpCatalog, ReadonlyMap<string, McpTool>>()
  const known = (catalog: McpCatalog) => {
    const tools = made.get(catalog) ?? toolsOf(catalog, catalog.approveByTool ?? approveByTool)
    made.set(catalog, tools)
    return tools
  }
  const hint = { ttlMs: listMs, cacheScope: 'private' } as const
  const unheld = { ttlMs: 0, cacheScope: 'private' } as const

  return async (context) => {
    const { era } = context
    const port = portOf(context)
    // On stdio the opening does not wait for the catalog, and the connection outlives it.
    const listed = transport === 'stdio' ? undefined : await port.catalog()
    const tools = async () => known(listed ?? (await port.catalog()))
    const may = (scope: Scope) => port.scopes === undefined || port.scopes.has(scope)
    const withDocuments = listed?.knowledge !== false && may('knowledge:read')
    const isLegacyHttp = transport === 'http' && era === 'legacy'
    const server: Server = new sdk.Server(
      { name: 'agentserve', version },
      {
        capabilities: { tools: isLegacyHttp ? {} : { listChanged: true }, ...(withDocuments && { resources: {} }) },
        instructions,
        cacheHints: {
          'tools/list': hint,
          'server/discover': hint,
          'resources/list': unheld,
          'resources/templates/list': hint,
          'resources/read': unheld,
        },
        requestState: {
          verify(state, ctx) {
            callers.set(ctx.mcpReq, port.caller)
            return verified(state, ctx)
          },
        },
      },
    )

    server.setRequestHandler('tools/list', async () => ({
      tools: [...(await tools()).values()].flatMap(({ scope, definition }) => (may(scope) ? [definition] : [])),
    }))
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      const tool = (await tools()).get(params.name)
      if (tool === undefined) throw unknown(`Unknown tool: ${params.name.slice(0, 100)}`)
      try {
        if (!may(tool.scope)) throw new AppError('forbidden', `Your key does not have the scope '${tool.scope}'.`)
        return await tool.call(new GivenArguments(tool.takes, params.arguments), port, hostOf(params.name, ctx))
      } catch (error) {
        return failed(error, ctx.mcpReq.signal)
      }
    })
    if (withDocuments) {
      server.setRequestHandler('resources/list', ({ params }) => asked(listDocuments(port, params?.cursor)))
      server.setRequestHandler('resources/templates/list', () => ({
        resourceTemplates: [
          { uriTemplate: documentTemplate, name: 'document', description: 'The text of a document.' },
        ],
      }))
      server.setRequestHandler('resources/read', async ({ params }, { mcpReq }) => {
        const found = await asked(readDocument(port, params.uri, mcpReq.signal))
        if (found === undefined) throw new sdk.ResourceNotFoundError(params.uri)
        return found
      })
    }
    return server

    function hostOf(tool: string, ctx: ServerContext): CallHost {
      const { mcpReq } = ctx
      const token = mcpReq._meta?.progressToken
      return {
        signal: mcpReq.signal,
        endsRun: () => (transport === 'http' ? era === 'modern' : !isClosed(mcpReq.signal.reason)),
        report:
          token === undefined
            ? undefined
            : (step) => {
                const params = { progressToken: token, ...step }
                // Who has left can't be told.
                mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
              },
        elicit: (run) => elicit(tool, run, ctx),
        elicited: elicitedBy(tool, ctx),
      }
    }

    async function elicit(tool: string, run: McpRun, ctx: ServerContext): Promise<InputRequiredResult | undefined> {
      if (!takesForms(ctx)) return undefined
      const forms = formsOf(run.waiting)
      if (forms === undefined) return undefined
      callers.set(ctx.mcpReq, port.caller)
      const state: State = { tool, run: run.run_id, asked: forms.map(({ asked }) => asked) }
      const requestState = await codec.mint(state, ctx)
      await port.keepState?.(requestState, { ...state, asked: state.asked.map((one) => ({ ...one })) })
      return sdk.inputRequired({
        inputRequests: Object.fromEntries(
          forms.map(({ asked, message, form }) => [
            keyOf(asked),
            sdk.inputRequired.elicit({ mode: 'form', message, requestedSchema: form }),
          ]),
        ),
        requestState,
      })
    }

    /** Another instance has another key, and asks what was kept. */
    async function verified(state: string, ctx: ServerContext): Promise<State> {
      try {
        return await codec.verify(state, ctx)
      } catch (error) {
        const kept = await port.findState?.(state)
        if (kept === undefined) throw error
        return kept as unknown as State
      }
    }

    function takesForms({ mcpReq }: ServerContext): boolean {
      if (isLegacyHttp) return false
      const envelope: Record<string, unknown> = mcpReq.envelope ?? {}
      const told = era === 'modern' ? envelope[sdk.CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities()
      // The SDK has checked the envelope by its schema.
      const elicitation = (told as ClientCapabilities | undefined)?.elicitation
      return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
    }

    function isClosed(reason: unknown): boolean {
      return reason instanceof sdk.SdkError && reason.code === sdk.SdkErrorCode.ConnectionClosed
    }
  }

  function elicitedBy(tool: string, { mcpReq }: ServerContext): CallHost['elicited'] {
    const state = mcpReq.requestState<State>()
    if (state === undefined) return undefined
    if (state.tool !== tool) throw new AppError('invalid_request', `This state is of the tool ${state.tool}.`)
    const answer = answerOf(state.asked, (key) => sdk.inputResponse(mcpReq.inputResponses, key))
    return { runId: state.run, answer }
  }

  function failed(error: unknown, signal: AbortSignal): CallToolResult {
    if (signal.aborted) throw error
    return { content: [{ type: 'text', text: told(error).message }], isError: true }
  }

  function told(error: unknown): AppError {
    const known = toAppError(error)
    if (known.code === 'internal') onFailure(error)
    return known
  }

  function unknown(message: string) {
    return new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message)
  }

  /** What is asked for without a tool has its errors as errors of the protocol. */
  async function asked<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      const { code, message } = told(error)
      if (code === 'invalid_request') throw unknown(message)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, message)
    }
  }
}

import { resolve } from 'node:path'
import type { CallToolResult, ListToolsResult, MCPClient } from '@ai-sdk/mcp'
import { AppError, messageOf } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import { version } from '../../core/version.ts'
import { abortable, endsWithin, pause } from '../../runtime/abort.ts'
import { hideSecrets, plainLine } from '../base/redact.ts'
import { openHttp } from './http.ts'
import { McpChild } from './process.ts'
import { type CheckedServer, isEndpoint } from './settings.ts'
import { StdioTransport } from './stdio.ts'

const firstPauseMs = 200
const longestPauseMs = 5_000
const maxFailures = 5
const restMs = 60_000
/** A connection that ends sooner counts as failed, even without an open call. */
const steadyMs = 10_000
const maxPages = 100
const farewellMs = 1_000

export type McpToolDefinition = ListToolsResult['tools'][number]

class Live {
  /** Set once the server has answered `initialize`. */
  client: MCPClient | undefined
  readonly startedAt = performance.now()
  tools: Promise<McpToolDefinition[]> | undefined
  known: McpToolDefinition[] | undefined
  calls = 0
  ready = false
  /** Why the connection is no longer usable. */
  lost: string | undefined
  readonly close: () => Promise<void>

  constructor(close: () => Promise<void>) {
    this.close = close
  }
}

/**
 * One MCP server, started on first use and restarted when it has died: at once, then with growing pauses. After five
 * failures in a row it is not started for a minute. Errors are `run_failed` with a text for the user.
 */
export class McpConnection {
  readonly #name: string
  readonly #server: CheckedServer
  readonly #root: string
  readonly #messageBytes: number
  readonly #closed = new AbortController()
  #live: Promise<Live> | undefined
  #ready: Live | undefined
  #logger: Logger | undefined
  #failures = 0
  #failedAt = 0
  #lastFailure = ''
  #endings = new Set<Promise<void>>()

  /** `messageBytes`: maximum size of a message from the server. */
  constructor(name: string, server: CheckedServer, root: string, messageBytes: number) {
    this.#name = name
    this.#messageBytes = messageBytes
    this.#server = server
    this.#root = root
  }

  async tools(logger: Logger, signal: AbortSignal): Promise<McpToolDefinition[]> {
    const live = await this.#open(logger, signal)
    live.tools ??= this.#listTools(live)
    try {
      return await abortable(live.tools, signal)
    } catch (error) {
      live.tools = undefined
      signal.throwIfAborted()
      throw this.#failure(live.lost ?? this.#say(error), error)
    }
  }

  /** The tools that a connected server has named last; undefined without a connection. Sends nothing. */
  get knownTools(): McpToolDefinition[] | undefined {
    return this.#ready?.lost === undefined ? this.#ready?.known : undefined
  }

  /** The result of a tool. Results with `isError` are returned, not thrown. The call is never retried. */
  async call(
    tool: string,
    input: Record<string, unknown>,
    logger: Logger,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    for (let again = false; ; again = true) {
      const live = await this.#open(logger, signal)
      try {
        const result = await this.#callOnce(live, tool, input, signal)
        this.#failures = 0
        return result
      } catch (error) {
        signal.throwIfAborted()
        // The server has lost the session, so it has not processed the call.
        if (statusOf(error) === 404 && !again) this.#lose(live, 'its session is gone')
        else throw this.#callFailure(live, tool, error)
      }
    }
  }

  /** Resolves when its process has ended, or its connections are closed. Unusable afterwards. */
  async close(): Promise<void> {
    this.#closed.abort(this.#failure('it was closed'))
    const live = await this.#live?.catch(() => undefined)
    if (live !== undefined) this.#end(live)
    await Promise.all(this.#endings)
  }

  /** Allows an immediate restart, whatever failed before. */
  forgive(): void {
    this.#failures = 0
  }

  #open(logger: Logger, signal: AbortSignal): Promise<Live> {
    this.#logger = logger
    if (this.#closed.signal.aborted) return Promise.reject(this.#closed.signal.reason)
    this.#live ??= this.#start().catch((error: unknown) => {
      this.#live = undefined
      throw error
    })
    return abortable(this.#live, signal)
  }

  async #start(): Promise<Live> {
    await this.#pause()
    const timeoutMs = this.#server.startTimeout
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(timeoutMs)])
    try {
      const live = await this.#connect(signal)
      live.tools = this.#listTools(live)
      await abortable(live.tools, signal).catch((error: unknown) => {
        const known = live.lost === undefined ? error : new Error(live.lost)
        this.#end(live)
        throw known
      })
      if (live.lost !== undefined) throw new Error(live.lost)
      live.ready = true
      this.#ready = live
      return live
    } catch (error) {
      this.#closed.signal.throwIfAborted()
      const why = signal.aborted ? `it was not ready within ${timeoutMs} ms` : this.#say(error)
      this.#countFailure(why)
      throw this.#failure(`it did not start: ${why}`, error)
    }
  }

  /** After a failure: waits; after too many: throws. */
  async #pause(): Promise<void> {
    this.#closed.signal.throwIfAborted()
    if (this.#failures === 0) return
    const since = performance.now() - this.#failedAt
    if (this.#failures >= maxFailures && since < restMs) {
      const seconds = Math.ceil((restMs - since) / 1000)
      throw this.#failure(
        `it failed ${this.#failures} times (${this.#lastFailure}); the next attempt is in ${seconds} s`,
      )
    }
    const pauseMs = this.#failures === 1 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#failures - 2))
    if (since < pauseMs) await pause(pauseMs - since, this.#closed.signal)
  }

  async #connect(signal: AbortSignal): Promise<Live> {
    const { createMCPClient } = await import('@ai-sdk/mcp')
    const common = { clientName: 'agentserve', version, initializationOptions: { signal } }
    if (isEndpoint(this.#server)) {
      const live: Live = new Live(() => line.close())
      const onBreak = (why: string) => this.#lose(live, `the connection broke: ${this.#say(why)}`)
      const line = await openHttp(this.#server, this.#messageBytes, onBreak)
      try {
        live.client = await createMCPClient({ ...common, transport: line.transport })
        return live
      } catch (error) {
        await line.close()
        throw error
      }
    }
    const folder = resolve(this.#root, this.#server.cwd ?? '.')
    const child = await McpChild.start(this.#server, folder, (line) => this.#log(line))
    const live = new Live(() => child.close())
    const transport = new StdioTransport(child, {
      messageBytes: this.#messageBytes,
      onNotification: (method) => {
        if (method === 'notifications/tools/list_changed') live.tools = undefined
      },
      onTooLong: (why) => this.#lose(live, why),
    })
    void child.ended.then((how) => this.#lose(live, `it ended (${how})`))
    try {
      // Current servers accept `initialize` only as the first request.
      live.client = await createMCPClient({ ...common, transport, protocolVersionDiscovery: false })
      return live
    } catch (error) {
      await child.close()
      throw live.lost === undefined ? error : new Error(live.lost)
    }
  }

  async #listTools(live: Live): Promise<McpToolDefinition[]> {
    const tools: McpToolDefinition[] = []
    const timeout = this.#server.startTimeout
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const params = cursor === undefined ? undefined : { cursor }
      const result = await clientOf(live).listTools({ ...(params && { params }), options: { timeout } })
      tools.push(...result.tools)
      cursor = result.nextCursor
      if (cursor === undefined) break
    }
    live.known = tools
    return tools
  }

  async #callOnce(
    live: Live,
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const timeout = this.#server.timeout
    // A signal for this call alone, so that the end of the run cancels no later call.
    const own = new AbortController()
    const stop = () => own.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    live.calls++
    try {
      return await clientOf(live).callTool({ name, arguments: input, options: { signal: own.signal, timeout } })
    } finally {
      live.calls--
      signal.removeEventListener('abort', stop)
    }
  }

  #callFailure(live: Live, tool: string, error: unknown): AppError {
    if (live.lost !== undefined) return this.#failure(`during the call of '${tool}', ${live.lost}`, error)
    if (error instanceof TypeError) this.#lose(live, this.#say(error))
    return this.#failure(`the call of '${tool}' failed: ${this.#say(error)}`, error)
  }

  #lose(live: Live, why: string): void {
    if (live.lost !== undefined) return
    live.lost = why
    this.#end(live)
    if (!live.ready) return
    if (live.calls > 0 || performance.now() - live.startedAt < steadyMs) this.#countFailure(why)
    this.#live = undefined
    if (!this.#closed.signal.aborted)
      this.#logger?.warn({ mcp_server: this.#name, reason: why }, 'the connection to an MCP server was lost')
  }

  #end(live: Live): void {
    live.lost ??= 'it was closed'
    const closing = farewell(live).finally(() => live.close())
    this.#endings.add(closing)
    void closing.finally(() => this.#endings.delete(closing))
  }

  #countFailure(why: string): void {
    this.#failures++
    this.#failedAt = performance.now()
    this.#lastFailure = why
  }

  #log(line: string): void {
    const text = this.#hide(plainLine(line))
    if (text !== '') this.#logger?.info({ mcp_server: this.#name, text }, 'MCP server wrote to stderr')
  }

  #say(error: unknown): string {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${messageOf(error.cause)}` : ''
    return this.#hide(plainLine(messageOf(error) + cause))
  }

  #hide(text: string): string {
    return hideSecrets(text, isEndpoint(this.#server) ? this.#server.headers : this.#server.env)
  }

  #failure(why: string, cause?: unknown): AppError {
    return new AppError('run_failed', `The MCP server '${this.#name}': ${why.replace(/\.$/, '')}.`, { cause })
  }
}

function clientOf({ client }: Live): MCPClient {
  if (client === undefined) throw new Error('it has not started')
  return client
}

/** Over HTTP this ends the session on the server; its answer is not awaited. */
async function farewell({ client }: Live): Promise<void> {
  if (client !== undefined) await endsWithin(client.close(), farewellMs)
}

function statusOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined
}

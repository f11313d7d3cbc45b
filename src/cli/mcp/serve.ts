import { randomBytes } from 'node:crypto'
import type { Server } from '@modelcontextprotocol/server'
import { messageOf } from '../../core/error.ts'
import { version } from '../../core/version.ts'
import { createMcpFactory } from '../../mcp/factory.ts'
import type { McpCatalog, McpPort } from '../../mcp/port.ts'
import { aborted } from '../../runtime/abort.ts'
import { exit } from '../command/exit-codes.ts'
import type { ConnectOptions } from '../command/flags.ts'
import type { CommandContext } from '../command/module.ts'
import type { Connection } from '../connect/connect.ts'
import { hint } from '../terminal/called-as.ts'
import { say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import { Link } from './link.ts'
import { takeOutput } from './output.ts'
import { catalogOf, clientPort } from './port.ts'
import { serveStdio } from './stdio.ts'

export interface ServeMcpOptions extends ConnectOptions {
  agent?: string[]
}

/** Of one message. What a tool may be given is far less. */
const maxMessageBytes = 32 * 1024 * 1024
/** Sources are looked at again when this long has passed since the last time. */
const sourcesRestMs = 5_000
/** A server that runs may reload its config while calls come. */
const catalogRestMs = 1_000
/** What a host sees while nothing can be opened: calling these tools tells why. */
const nothingYet: McpCatalog = { entities: [], knowledge: true }

/** Serves the host that has started this program, until it closes stdin or a signal comes. */
export async function serveMcp(context: CommandContext, { agent: only = [], ...options }: ServeMcpOptions) {
  const output = takeOutput()
  if (process.stdin.isTTY) say(`An MCP host starts this command: ${hint('mcp --print-config <host>')} prints how.`)
  const onError = (error: unknown) => say(terminalLine(`mcp: ${messageOf(error)}`))
  let server: Server | undefined
  const catalogs = new Catalogs(only, () => void server?.sendToolListChanged().catch(onError))
  let sourcesReadMs = Number.NEGATIVE_INFINITY
  const link = new Link({
    async connect() {
      const { connect } = await import('../connect/connect.ts')
      return connect(options, context, { stays: true })
    },
    async onConnected(connection) {
      if (performance.now() - sourcesReadMs >= sourcesRestMs) {
        connection.own?.server.refreshSources()
        sourcesReadMs = performance.now()
      }
      await catalogs.read(connection)
    },
  })
  const port = clientPort({
    link,
    scopes: () => catalogs.scopes,
    async catalog() {
      // What can't be opened is told by the tools.
      await link.with((connection) => catalogs.read(connection)).catch(onError)
      return catalogs.current
    },
  })
  const factory = await createMcpFactory({
    version,
    approveByTool: false,
    transport: 'stdio',
    stateKey: randomBytes(32),
    port: () => port,
    onFailure: onError,
  })
  const onStray = (error: unknown) => say(terminalLine(`mcp: unhandled rejection in agent code: ${messageOf(error)}`))
  process.on('unhandledRejection', onStray)
  try {
    const host = await serveStdio(async (about) => (server = (await factory(about)) as Server), {
      input: process.stdin,
      output,
      maxBytes: maxMessageBytes,
      // Not before: the imports would hold up the opening.
      onFirstSent: () => void link.with(async () => {}).catch(() => {}),
      onError,
    })
    await Promise.race([host.ended, aborted(context.signal)])
    await host.close()
  } finally {
    await link.close()
    process.off('unhandledRejection', onStray)
  }
  return context.stoppedBy() === 'SIGINT' ? exit.interrupted : exit.ok
}

/** What was offered last, and what the key may do. */
class Catalogs {
  readonly #only: readonly string[]
  readonly #onChange: () => void
  #text: string | undefined
  #readMs = Number.NEGATIVE_INFINITY
  current = nothingYet
  scopes: McpPort['scopes']

  constructor(only: readonly string[], onChange: () => void) {
    this.#only = only
    this.#onChange = onChange
  }

  async read(connection: Connection): Promise<void> {
    if (performance.now() - this.#readMs < catalogRestMs) return
    const next = await catalogOf(connection, this.#only)
    // A key without a user may do what its scopes say; the server checks each call too.
    const { scopes } = await connection.client.me()
    this.#readMs = performance.now()
    const text = JSON.stringify([next, scopes])
    const isFirst = this.#text === undefined
    if (text === this.#text) return
    const missing = this.#only.filter((id) => !next.entities.some((entity) => entity.id === id))
    for (const id of missing) say(`mcp: there is no agent '${terminalLine(id)}' (--agent).`)
    this.#text = text
    this.current = next
    this.scopes = new Set(scopes)
    if (!isFirst) this.#onChange()
  }
}

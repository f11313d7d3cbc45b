import { randomBytes } from 'node:crypto'
import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create.ts'
import type { ResolvedConfig } from '../../config/types.ts'
import type { OpenServer, ShutdownOptions } from '../../server.ts'
import type { ConnectOptions } from '../command/flags.ts'
import type { CommandContext } from '../command/module.ts'
import { terminalLogger } from '../terminal/logger.ts'
import { findNamedServer } from './named-server.ts'
import { findDataFolder, loadProject } from './project.ts'
import { findRunningServer } from './running-server.ts'
import { serverKey } from './server-key.ts'
import { withSuggestion } from './suggestion.ts'
import { waitForFolder } from './wait-for-folder.ts'

export interface Connection {
  client: Client
  /** Of the server that is running; undefined for one in this process. */
  url?: string
  /** The server in this process, and its config. */
  own?: { server: OpenServer; config: ResolvedConfig }
  close(options?: ShutdownOptions): Promise<void>
}

/** Connects to `--url`, else the data folder's running server, else a server in this process until `close`. */
export async function connect(options: ConnectOptions, context: CommandContext): Promise<Connection> {
  const dataFolder = await findDataFolder(options)
  const named = findNamedServer(options)
  if (named !== undefined) return toConnection(createClient(named), named.url)
  const running = async () => {
    const found = await findRunningServer(dataFolder, (hint) => serverKey(options, hint, context.signal))
    return found === undefined ? undefined : toConnection(found.client, found.hint.url)
  }
  const open = () => openInProcess(options, context.signal)
  return (await running()) ?? waitForFolder({ dataFolder, open, instead: running, signal: context.signal })
}

export async function withClient<T>(
  options: ConnectOptions,
  context: CommandContext,
  work: (client: Client, url: string | undefined, own: Connection['own']) => Promise<T>,
): Promise<T> {
  const connection = await connect(options, context)
  try {
    return await work(connection.client, connection.url, connection.own)
  } catch (error) {
    throw await withSuggestion(error, connection.client)
  } finally {
    await connection.close()
  }
}

async function openInProcess(options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  const { openServer } = await import('../../server.ts')
  const { config } = await loadProject(options, { data: options.data }, terminalLogger({ quiet: true }), { signal })
  const { prefix, a2a, healthPath, authKeys } = config.server
  // Access to the folder is full access, and the texts of hashed keys are unknown here.
  const own = { key: randomBytes(32).toString('base64url'), id: 'key:command', userId: undefined, scopes: undefined }
  const keys = authKeys.length === 0 ? [] : [...authKeys, own]
  const server = openServer({ ...config, server: { ...config.server, authKeys: keys, allowOrigins: [] } })
  const client = createClient({
    transport: (request) => server.inject(request),
    apiKey: own.key,
    prefix,
    a2aPrefix: a2a.prefix,
    healthPath,
  })
  try {
    await client.health()
  } catch (error) {
    await server.shutdown({ deadline: 0 })
    throw error
  }
  return { client, own: { server, config }, close: (options) => server.shutdown(options) }
}

function toConnection(client: Client, url: string): Connection {
  return { client, url, close: () => client.close() }
}

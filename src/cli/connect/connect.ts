import { resolve } from 'node:path'
import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create.ts'
import { sourcesPath } from '../../core/access/folder-paths.ts'
import type { ServerHint } from '../../core/access/server-file.ts'
import { commandKeyFor } from '../../core/access/server-proof.ts'
import { abortable } from '../../runtime/abort.ts'
import type { ShutdownOptions } from '../../server.ts'
import type { ConnectOptions } from '../command/flags.ts'
import type { CommandContext } from '../command/module.ts'
import { say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import { FolderLink } from './folder-link.ts'
import { nameOf } from './holder.ts'
import { findNamedServer } from './named-server.ts'
import { ownOrConnect } from './own-or-connect.ts'
import { openOwn } from './own-server.ts'
import { findDataFolder } from './project.ts'
import { transportTo } from './running-server.ts'
import { serverKey } from './server-key.ts'
import { withSuggestion } from './suggestion.ts'
import { type OwnServer, standIns, type Target, targetAt } from './target.ts'

export interface Connection {
  client: Client
  /** Of the server that is running; undefined for a command, this one or another. */
  readonly url: string | undefined
  /** The server in this process, and its config. */
  readonly own: OwnServer | undefined
  /** Ingests the sources of the config, as a server does when it starts. One that runs has done so: nothing happens then. */
  readSources(signal: AbortSignal): Promise<void>
  close(options?: ShutdownOptions): Promise<void>
}

export interface Stay {
  /** The command uses `own`, so it keeps the folder until its end, also when `dev` or `start` wants it. */
  stays?: boolean
}

/** How long the next owner is waited for while the last one finishes its runs. */
const leavingMs = 15_000
const releaseMs = 10_000

/** Connects to `--url`, else to the server of the data folder, which is this process when there is no other. */
export async function connect(
  options: ConnectOptions,
  context: CommandContext,
  { stays = false }: Stay = {},
): Promise<Connection> {
  const dataFolder = await findDataFolder(options)
  const named = findNamedServer(options)
  if (named !== undefined) return toNamed(createClient(named), named.url)
  const { signal } = context
  const link = new FolderLink((leaving) =>
    ownOrConnect<Target>({
      dataFolder,
      command: context.command,
      signal,
      ...(leaving !== undefined && { patienceMs: leavingMs }),
      async connect(running) {
        if (running.secret === leaving?.hint?.secret) return undefined
        const { socket, secret, auth } = running
        const ownKey = auth ? commandKeyFor(secret) : undefined
        const key = socket === undefined ? await serverKey(options, running, signal) : ownKey
        const other = otherConfig(options, running)
        if (other !== undefined) say(other)
        return targetAt(running, key, transportTo(running))
      },
      own: (folder) =>
        openOwn({
          options,
          dataFolder,
          folder,
          signal,
          onRelease() {
            if (!stays) void link.release(releaseMs)
            return !stays
          },
        }),
    }),
  )
  await link.open()
  const client = createClient({ transport: link.send, ...standIns })
  return {
    client,
    get url() {
      return link.current?.hint?.url
    },
    get own() {
      return link.current?.own
    },
    async readSources(signal) {
      const { own, hint } = link.current ?? {}
      if (own !== undefined && own.config.knowledge.sources.length > 0) {
        own.server.refreshSources()
        await abortable(own.server.ingested(), signal)
      }
      if (hint?.socket === undefined) return
      const answer = await link.send({ method: 'POST', url: sourcesPath, headers: {}, signal })
      for await (const _ of answer.body);
    },
    async close({ deadline } = {}) {
      await client.close()
      // A signal that has come already ended the command; the next one ends the process.
      const hurry = signal.aborted ? {} : { signal }
      await link.close({ ...hurry, ...(deadline !== undefined && { deadline }) })
    },
  }
}

export async function withClient<T>(
  options: ConnectOptions,
  context: CommandContext,
  work: (client: Client, url: string | undefined, connection: Connection) => Promise<T>,
  stay?: Stay,
): Promise<T> {
  const connection = await connect(options, context, stay)
  try {
    return await work(connection.client, connection.url, connection)
  } catch (error) {
    throw await withSuggestion(error, connection.client)
  } finally {
    await connection.close()
  }
}

/** Set when the server answers with another config than the one that was asked for. */
function otherConfig({ config }: ConnectOptions, running: ServerHint): string | undefined {
  if (config === undefined || resolve(config) === running.config) return undefined
  const theirs = running.config === undefined ? 'no config file' : terminalLine(running.config)
  return `${nameOf(running)} answers, with ${theirs} and not ${terminalLine(config)}.`
}

function toNamed(client: Client, url: string): Connection {
  return {
    client,
    url,
    own: undefined,
    async readSources() {},
    close: () => client.close(),
  }
}

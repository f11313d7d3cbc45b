import { randomBytes } from 'node:crypto'
import { needsKey } from '../../config/needs-key.ts'
import { commandKeyFor, proofBytes } from '../../core/access/server-proof.ts'
import { messageOf } from '../../core/error.ts'
import { endsWithin } from '../../runtime/abort.ts'
import type { OpenServer, OwnedFolder } from '../../server.ts'
import type { ProjectOptions } from '../command/flags.ts'
import { terminalLogger } from '../terminal/logger.ts'
import { say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import { loadProject } from './project.ts'
import type { CloseOptions, Target } from './target.ts'
import { untilReady } from './until-ready.ts'

export interface OwnServerOptions {
  options: ProjectOptions
  dataFolder: string
  folder: OwnedFolder
  /** A server wants the folder. False: this command needs it until its end. */
  onRelease(): boolean
  signal: AbortSignal
}

const finishMs = 10_000
/** Shorter waits are not told. */
const untoldMs = 300

/** Opens a server in this process that serves the folder's other commands over a socket. It has the lock until it is closed. */
export async function openOwn({ options, dataFolder, folder, onRelease, signal }: OwnServerOptions): Promise<Target> {
  const [{ openServer }, { freeSocketPath }] = await Promise.all([
    import('../../server.ts'),
    import('../../server/folder/socket-path.ts'),
  ])
  const { config } = await loadProject(options, { data: options.data }, terminalLogger({ quiet: true }), {
    signal,
  })
  const { prefix, a2a, healthPath, authKeys } = config.server
  const isProtected = needsKey(config.server)
  const secret = randomBytes(proofBytes).toString('base64url')
  // Access to the folder is full access, and the texts of hashed keys are unknown here. Nobody sends a token there.
  const own = { key: commandKeyFor(secret), id: 'key:command', userId: undefined, scopes: undefined }
  const keys = isProtected ? [...authKeys, own] : []
  const server = openServer(
    { ...config, server: { ...config.server, authKeys: keys, jwt: undefined, allowOrigins: [] } },
    { mode: 'command', folder, socket: { path: await freeSocketPath(dataFolder), secret, onRelease } },
  )
  const onStray = (error: unknown) => say(`Unhandled rejection in agent code: ${terminalLine(messageOf(error))}`)
  // It must not end the conversations of others.
  if (process.listenerCount('unhandledRejection') === 0) process.on('unhandledRejection', onStray)
  const close = async (ending?: CloseOptions) => {
    await finish(server, ending ?? {})
    await server.shutdown({ deadline: 0 })
    await folder.lock.release()
    process.off('unhandledRejection', onStray)
  }
  try {
    await untilReady(server, signal)
  } catch (error) {
    await close({ deadline: 0 })
    throw error
  }
  return {
    name: 'the server',
    paths: { prefix, a2aPrefix: a2a.prefix, healthPath },
    key: isProtected ? own.key : undefined,
    send: (request) => server.inject(request),
    own: { server, config },
    close,
  }
}

/** Waits for the runs of other commands, and for those of this one until the deadline. */
async function finish(
  server: OpenServer,
  { deadline = finishMs, signal, started = new Set() }: CloseOptions,
): Promise<void> {
  const { runs } = server.services
  if (deadline === 0) {
    const own = server.underWay().run_ids.filter((id) => started.has(id))
    await Promise.allSettled(own.map((id) => runs.cancel(id, 'shutdown')))
  }
  const finished = server.finishRuns({ deadline: finishMs, ...(signal && { signal }) })
  if (!(await endsWithin(finished, untoldMs))) {
    const heads = await Promise.all(server.underWay().run_ids.map((id) => runs.head(id)))
    const count = heads.filter(({ parent_run_id: parent }) => parent === null).length
    if (count > 0)
      say(`Waiting up to ${finishMs / 1000} s for ${count === 1 ? '1 run' : `${count} runs`}; Ctrl-C ends at once.`)
  }
  await finished
}

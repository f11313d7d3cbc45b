import { AppError } from '../core/error.ts'
import type { OpenServer } from '../server.ts'
import { announce } from './announce.ts'
import type { CommandContext } from './command.ts'
import { exit } from './exit-codes.ts'
import { type ServeOptions, toConfigFlags } from './flags.ts'
import { say } from './output.ts'
import { loadProject, type Project } from './project.ts'
import { watchProject } from './reload.ts'
import { findRunningServer } from './running-server.ts'
import { terminalLogger } from './terminal-logger.ts'
import { waitForFolder } from './wait-for-folder.ts'

/** Serves until a signal comes or the server gives up. `watch`: reloads the configuration when its files change. */
export async function serve(context: CommandContext, options: ServeOptions, watch: boolean): Promise<number> {
  const logger = watch ? terminalLogger() : undefined
  const load = () => loadProject(options, toConfigFlags(options), logger)
  const project = await load()
  const { server, ended } = await open(project, context)
  // An agent's own stray promise must not end the conversations of the others.
  const onStray = (error: unknown) =>
    server.services.logger.error({ error }, 'an agent left a promise that failed without anybody to handle it')
  process.on('unhandledRejection', onStray)
  try {
    const bound = await server.ready
    announce(project.config, bound, options.json === true, watch)
    const watcher = watch ? await watchProject(project, server, load) : undefined
    await Promise.race([ended, aborted(context.signal)])
    await watcher?.close()
  } finally {
    if (context.stoppedBy() !== undefined) say('Stopping …')
    await server.shutdown()
    process.off('unhandledRejection', onStray)
  }
  await ended
  return context.stoppedBy() === 'SIGINT' ? exit.interrupted : exit.ok
}

interface Opened {
  server: OpenServer
  /** Settles when the server has been shut down; rejects when it could not go on. */
  ended: Promise<void>
}

async function open({ config }: Project, { signal }: CommandContext): Promise<Opened> {
  const { openServer } = await import('../server.ts')
  const { dataFolder } = config
  return waitForFolder({
    dataFolder,
    signal,
    async open() {
      const server = openServer(config)
      const ended = server.start()
      ended.catch(() => {})
      await Promise.race([server.ready, ended])
      return { server, ended }
    },
    async instead() {
      const other = await findRunningServer(dataFolder, undefined)
      if (other === undefined) return undefined
      await other.client.close()
      const { url, pid } = other.hint
      throw new AppError(
        'unavailable',
        `${dataFolder} is served at ${url} already (process ${pid}): stop it, or give --data.`,
      )
    },
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

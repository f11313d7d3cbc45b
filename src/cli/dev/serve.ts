import { AppError } from '../../core/error.ts'
import { aborted } from '../../runtime/abort.ts'
import { databaseOf } from '../../server/database/database.ts'
import type { OpenServer, ServerPurpose } from '../../server.ts'
import { exit } from '../command/exit-codes.ts'
import { type ServeOptions, toConfigFlags } from '../command/flags.ts'
import type { CommandContext } from '../command/module.ts'
import { ownOrConnect } from '../connect/own-or-connect.ts'
import { loadProject, type Project } from '../connect/project.ts'
import { askToRelease } from '../connect/release.ts'
import { untilReady } from '../connect/until-ready.ts'
import { loadUserConfig } from '../connect/user-config.ts'
import { say } from '../terminal/output.ts'
import { paintFor } from '../terminal/paint.ts'
import { terminalLine } from '../terminal/text.ts'
import { announce, announceJson } from './announce.ts'
import { createDevTerminal } from './dev-terminal.ts'
import { createReloader, type Reloader } from './reload.ts'
import { type SourceWatch, watchSources } from './watch-sources.ts'

/** In which a proxy sees that this server stops, and sends its requests to the others. */
export const drainMs = 5_000
/** How long a command that has the folder may take to let go of it. */
const releaseMs = 10_000
/** Entities of runs that the end of the server waits for. */
const mostNamed = 20

/** Serves until a signal or a fatal error. `dev` adds its terminal and, by default, reloading. */
export async function serve(context: CommandContext, options: ServeOptions, dev: boolean): Promise<number> {
  try {
    return await serveUntilStopped(context, options, dev)
  } catch (error) {
    // SIGTERM is a normal stop, also during the start.
    if (context.stoppedBy() === 'SIGTERM' && error instanceof Error && error.name === 'AbortError') return exit.ok
    throw error
  }
}

async function serveUntilStopped(context: CommandContext, options: ServeOptions, dev: boolean): Promise<number> {
  const json = options.json === true
  const terminal = dev
    ? createDevTerminal({ json, open: options.open === true, again: options.again === true })
    : undefined
  let reloader: Reloader | undefined
  let sources: SourceWatch | undefined
  /** Files that runs imported before the reloader existed. */
  const lateFiles: string[] = []
  const onLateFile = (file: string) => void (reloader === undefined ? lateFiles.push(file) : reloader.add(file))
  const load = (signal: AbortSignal) =>
    loadProject(options, toConfigFlags(options), terminal?.logger, { onLateFile, signal })
  const project = await load(context.signal)
  const { config } = project
  const { server, ended } = await open(project, context, {
    mode: dev ? 'dev' : 'start',
    onRunEnd: terminal?.onRunEnd,
    ...(dev && { loadConfig: (signal) => loadUserConfig(options.config, signal) }),
  })
  const { flushLog } = await import('../../config/logger.ts')
  // An unhandled rejection in agent code must not end other conversations.
  const onStray = (error: unknown) => server.services.logger.error({ error }, 'unhandled rejection in agent code')
  process.on('unhandledRejection', onStray)
  // After an uncaught exception the state may be inconsistent.
  const onUncaught = (error: unknown) => {
    server.services.logger.error({ error, ...server.underWay() }, 'the server must stop: uncaught exception')
    void flushLog().then(() => {
      say(`The server stops: ${error instanceof Error ? error.message : String(error)} (the log names the runs).`)
      process.exit(exit.failure)
    })
  }
  process.on('uncaughtException', onUncaught)
  try {
    const bound = await server.ready
    if (json) announceJson(config, bound)
    if (terminal === undefined && !json) announce(config, bound, say, paintFor(process.stderr))
    if (terminal !== undefined) {
      const watch = options.watch !== false
      if (watch) sources = watchSources(config, server)
      const onReloaded = (next: Project) => {
        sources?.update(next.config)
        terminal.reloaded(next.config)
      }
      reloader = createReloader({ project, server, load, watch, print: say, onReloaded })
      for (const file of lateFiles) reloader.add(file)
      terminal.begin({ server, config, bound, watching: watch, reload: reloader.reload })
    }
    await Promise.race([ended, aborted(context.signal)])
  } finally {
    const stoppedBy = context.stoppedBy()
    if (stoppedBy !== undefined) say(await stoppingLine(server, stoppedBy, config.server.stopWithinMs))
    await reloader?.close()
    await sources?.close()
    const drains = !dev && stoppedBy === 'SIGTERM' && databaseOf(config.server.sessionStorage) !== undefined
    await server.shutdown({ deadline: config.server.stopWithinMs, ...(drains && { drain: drainMs }) })
    await terminal?.close()
    process.off('unhandledRejection', onStray)
    process.off('uncaughtException', onUncaught)
    // The last line says why it stopped.
    await flushLog()
  }
  await ended
  return context.stoppedBy() === 'SIGINT' ? exit.interrupted : exit.ok
}

/** What the server still waits for, and how to end that. */
async function stoppingLine(
  { services, underWay }: OpenServer,
  stoppedBy: NodeJS.Signals,
  stopMs: number,
): Promise<string> {
  const ids = underWay().run_ids
  if (ids.length === 0) return 'Stopping …'
  // One that ends meanwhile, or that the store can't read any more, is only counted.
  const found = await Promise.allSettled(ids.slice(0, mostNamed).map((id) => services.runs.get(id)))
  const names = found.flatMap((run) => (run.status === 'fulfilled' ? [terminalLine(run.value.entity_id)] : []))
  const named = names.length === 0 ? '' : ` (${[...new Set(names)].join(', ')})`
  const runs = ids.length === 1 ? '1 run' : `${ids.length} runs`
  const again = stoppedBy === 'SIGINT' ? 'Ctrl-C again' : 'Ctrl-C'
  const how = process.stderr.isTTY ? `; ${again} ends it` : ''
  return `Stopping: waiting up to ${stopMs / 1000} s for ${runs}${named}${how}.`
}

interface Opened {
  server: OpenServer
  /** Settles after the shutdown; rejects after a fatal error. */
  ended: Promise<void>
}

async function open({ config }: Project, context: CommandContext, purpose: ServerPurpose): Promise<Opened> {
  const { openServer } = await import('../../server.ts')
  const { dataFolder } = config
  const { signal, command } = context
  /** Owners that have been asked to let go of the folder. */
  const asked = new Set<string>()
  return ownOrConnect<Opened>({
    dataFolder,
    command,
    signal,
    patienceMs: releaseMs,
    pauseMs: 20,
    why: `which did not let go of it within ${releaseMs / 1000} s`,
    async own(folder) {
      const server = openServer(config, { ...purpose, folder })
      return { server, ...(await untilReady(server, signal)) }
    },
    async connect(running) {
      const { url, pid, secret } = running
      if (url !== undefined) {
        throw new AppError(
          'unavailable',
          `${dataFolder} is already served at ${url} (process ${pid}). Stop that server, or name another folder with --data.`,
        )
      }
      if (!asked.has(secret)) await askToRelease(running, signal)
      asked.add(secret)
      return undefined
    },
  })
}

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { admin, giveToPostgres, type Kit, openKit, role } from './cluster.ts'
import { findPort } from './port.ts'
import { type Mode, type Postmaster, startPostmaster } from './postmaster.ts'
import { sharedFolder } from './shared-folder.ts'
import { whyNoPostgres } from './support.ts'
import { watchOver } from './watchdog.ts'

export interface PostgresOptions {
  /** Writes reach the disk before a commit is answered. Default false: what is written survives Postgres, not the machine. */
  durable?: boolean
  /** The folder for the server's own folder. Default: the temporary folder. */
  parent?: string
  /** The folder that is removed when this process is killed. Default: the server's own. */
  leavesWith?: string
  /** Parameters of postgresql.conf, which override those of the tests. */
  settings?: Record<string, string | number>
}

export interface PostgresServer {
  /** For the role of programs, which is no superuser but owns its database and may create others. */
  readonly url: string
  /** For the superuser, in the same database. */
  readonly adminUrl: string
  readonly port: number
  /** Of the postmaster. Changes with each start. */
  readonly pid: number
  /** Everything of the server: `data` and `log`. */
  readonly folder: string
  /** Ends the server and keeps its data. */
  halt(mode: Mode): Promise<void>
  /** Starts the server again on its port after `halt`. */
  resume(): Promise<void>
  restart(mode: Mode): Promise<void>
  /** Ends the server and removes its folder. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const small = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '32MB',
  max_connections: 200,
  max_wal_size: '128MB',
  min_wal_size: '16MB',
  io_method: 'sync',
  // Nothing of the server is outside its folder.
  dynamic_shared_memory_type: 'mmap',
  log_line_prefix: '%m [%p] %a ',
}
const fleeting = { fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: 0 }

/** A cluster of its own, which ends with this process at the latest. `stop` it: the run fails for a folder that is left. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const parent = options.parent ?? tmpdir()
  const why = whyNoPostgres(parent)
  if (why !== undefined) throw new Error(`Postgres can't be started: ${why}.`)
  const folder = await mkdtemp(join(parent, 'agentserve-postgres-'))
  const unwatch = watchOver(folder, options.leavesWith ?? folder)
  const remove = async () => {
    await rm(folder, { recursive: true, force: true })
    await unwatch()
  }
  try {
    await chmod(folder, 0o711)
    const kit = await openKit(sharedFolder() ?? folder)
    return await startIn(folder, kit, options, remove)
  } catch (error) {
    await remove()
    throw error
  }
}

async function startIn(folder: string, kit: Kit, options: PostgresOptions, remove: () => Promise<void>) {
  await giveToPostgres(folder)
  await kit.copyCluster(join(folder, 'data'))
  const settings = { ...small, ...(options.durable ? {} : fleeting), ...options.settings }
  const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const start = (port: number) =>
    startPostmaster(
      join(kit.binaries, 'postgres'),
      ['-D', join(folder, 'data'), '-p', `${port}`, ...parameters],
      join(folder, 'log'),
    )
  let { port, postmaster } = await startOnFreePort(start)
  let running = true
  const address = (user: string) => `postgres://${user}:${kit.password}@127.0.0.1:${port}/${role}`
  const server: PostgresServer = {
    url: address(role),
    adminUrl: address(admin),
    port,
    folder,
    get pid() {
      return postmaster.pid
    },
    async halt(mode) {
      if (running) await postmaster.end(mode)
      running = false
    },
    async resume() {
      if (!running) postmaster = await start(port)
      running = true
    },
    async restart(mode) {
      await server.halt(mode)
      await server.resume()
    },
    async stop() {
      await server.halt('immediate')
      await remove()
    },
    [Symbol.asyncDispose]: () => server.stop(),
  }
  return server
}

/** Another program may take the port between the look and the start. */
async function startOnFreePort(start: (port: number) => Promise<Postmaster>, attempts = 5) {
  const port = await findPort()
  try {
    return { port, postmaster: await start(port) }
  } catch (error) {
    if (attempts === 1 || !/Address already in use/.test(String(error))) throw error
    return startOnFreePort(start, attempts - 1)
  }
}

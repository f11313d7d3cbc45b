import { join } from 'node:path'
import { type Client, createClient } from '../../../src/client/index.ts'
import { findPort } from '../postgres/port.ts'
import { type PostgresProxy, startProxy } from '../postgres/proxy.ts'
import { createProject, type Finished, type RunningServer, serve } from '../program.ts'
import { agentsFile } from './agents.ts'

/** One process of the program, which talks to Postgres through a proxy of its own. */
export interface Instance {
  readonly name: string
  readonly proxy: PostgresProxy
  /** The way of what it listens to. */
  readonly wakes: PostgresProxy
  /** Of the process that was started last; the port stays the same. */
  readonly server: RunningServer
  readonly url: string
  /** Without retries. A new one after each start. */
  readonly client: Client
  start(env?: Record<string, string>): Promise<void>
  stop(): Promise<Finished>
  kill(): Promise<Finished>
}

export interface Instances {
  readonly all: readonly Instance[]
  /** Where agents note what they do: see agents.ts. */
  readonly effects: string
  close(): Promise<void>
}

export interface InstancesOptions {
  /** The address of Postgres. */
  url: string
  schema: string
  names: readonly string[]
  /** Default: that of agents.ts. */
  config?: string
  env?: Record<string, string>
}

/** Starts one instance per name, which have the same configuration and nothing else in common but the database. */
export async function startInstances({ url, schema, names, config, env }: InstancesOptions): Promise<Instances> {
  const project = await createProject({ 'agent.config.ts': config ?? agentsFile(schema) })
  const effects = join(project.folder, 'effects')
  const all: Instance[] = []
  const close = async () => {
    await Promise.all(all.map((instance) => instance.kill()))
    await Promise.all(all.flatMap(({ proxy, wakes }) => [proxy.stop(), wakes.stop()]))
    await project.remove()
  }
  try {
    for (const name of names) {
      const [proxy, wakes] = await Promise.all([startProxy(url), startProxy(url)])
      const addresses = { AGENTSERVE_DATABASE_URL: proxy.url, LISTEN_URL: wakes.url }
      const port = await findPort()
      all.push(instanceOf(name, port, { proxy, wakes }, { ...env, ...addresses, EFFECTS: effects }))
    }
    await Promise.all(all.map((instance) => instance.start()))
    return { all, effects, close }
  } catch (error) {
    await close()
    throw error
  }

  function instanceOf(
    name: string,
    port: number,
    proxies: Pick<Instance, 'proxy' | 'wakes'>,
    usual: Record<string, string>,
  ): Instance {
    let server: RunningServer | undefined
    let client: Client | undefined
    const running = () => {
      if (server === undefined || client === undefined) throw new Error(`The instance ${name} was never started.`)
      return { server, client }
    }
    const end = async (how: 'stop' | 'kill') => {
      await client?.close()
      // Nothing, for one that has ended already.
      return (await server?.[how]()) ?? { code: null, signal: null, stdout: '', stderr: '' }
    }
    return {
      name,
      ...proxies,
      get server() {
        return running().server
      },
      get client() {
        return running().client
      },
      get url() {
        return running().server.url
      },
      async start(more = {}) {
        const args = ['--port', `${port}`, '--data', join(project.folder, `data-${name}`)]
        server = await serve(project, 'start', args, { ...usual, ...more })
        client = createClient({ url: server.url, retries: 0 })
      },
      stop: () => end('stop'),
      kill: () => end('kill'),
    }
  }
}

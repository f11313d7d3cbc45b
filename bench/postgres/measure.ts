import type { PostgresServer } from '../../test/support/postgres/server.ts'
import type { Times } from '../cell.ts'
import type { Ask } from '../dialect.ts'
import type { LoadProcess } from '../load-process.ts'
import type { MeasuredProcess } from '../measured-process.ts'
import { foreignShare, machineMs, postgresMs, processMs } from './processor.ts'

/** Servers that share a store, and the Postgres that it is. */
export interface Target {
  servers: readonly MeasuredProcess[]
  postgres?: PostgresServer
}

export interface Load extends Times {
  load: LoadProcess
  ask: Omit<Ask, 'dialect'>
  callers: number
  /** Each caller goes on with the session of its own name. */
  sessions?: string
}

export interface Figures {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Processor time of a run. */
  nodeMs: number
  postgresMs: number
  commitsPerSecond: number
  commitMs: number
  /** The part of the machine that others had. */
  foreign: number
}

interface Counted {
  nodeMs: number
  postgresMs: number
  loadMs: number
  machineMs: number
  commits: number
  commitSeconds: number
}

/** Callers ask the servers in turns. */
export async function measure(target: Target, given: Load): Promise<Figures> {
  const { load, ask, callers, sessions, warmUpMs, measureMs } = given
  const look = () => count(target, load)
  const [url = '', ...others] = target.servers.map((server) => server.url)
  let before = look()
  let after = before
  await before
  const outcome = await load.run(
    {
      ...{ url, others },
      ask: { ...ask, dialect: 'agentserve' },
      connections: callers,
      ...{ sessions, warmUpMs, measureMs },
    },
    () => {
      before = look()
    },
    () => {
      after = look()
    },
  )
  if (outcome.errors > 0) throw new Error(`${ask.agentId} × ${callers}: ${outcome.errors} wrong, ${outcome.firstError}`)
  const [from, to] = await Promise.all([before, after])
  const used = (name: keyof Counted) => to[name] - from[name]
  const { requests, seconds, p50Ms, p99Ms } = outcome
  return {
    perSecond: requests / seconds,
    ...{ p50Ms, p99Ms },
    nodeMs: used('nodeMs') / requests,
    postgresMs: used('postgresMs') / requests,
    commitsPerSecond: used('commits') / seconds,
    commitMs: (used('commitSeconds') / used('commits')) * 1000,
    foreign: foreignShare({
      machine: used('machineMs'),
      own: used('nodeMs') + used('postgresMs') + used('loadMs'),
      seconds,
    }),
  }
}

async function count({ servers, postgres }: Target, load: LoadProcess): Promise<Counted> {
  const used = {
    nodeMs: servers.reduce((sum, { pid }) => sum + processMs(pid), 0),
    postgresMs: postgres === undefined ? 0 : postgresMs(postgres.pid),
    loadMs: processMs(load.pid) + processMs(process.pid),
    machineMs: machineMs(),
  }
  const texts = await Promise.all(servers.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))
  const total = (name: string) =>
    texts.reduce((sum, text) => sum + Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0), 0)
  return {
    ...used,
    commits: total('agentserve_store_commits_total'),
    commitSeconds: total('agentserve_store_commit_seconds_total'),
  }
}

import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { agentsFile } from '../test/support/cluster/agents.ts'
import { type Instance, startInstances } from '../test/support/cluster/instances.ts'
import { startPostgres } from '../test/support/postgres/server.ts'
import { Balanced } from './cluster/balanced.ts'
import { createShared, startClients } from './cluster/clients.ts'
import { mountSmallDisk, type SmallDisk } from './cluster/disk.ts'
import { verifyDocuments } from './cluster/documents.ts'
import { verifyEffects } from './cluster/effects.ts'
import { type Happened, playFaults } from './cluster/faults.ts'
import { startLiveReaders } from './cluster/live-readers.ts'
import { Logs } from './cluster/logs.ts'
import { type FaultKind, faultKinds, planFaults } from './cluster/plan.ts'
import { createRandom } from './cluster/random.ts'
import { Told } from './cluster/told.ts'
import { verify } from './cluster/verify.ts'
import { untilSettled, watchSessions } from './cluster/watch.ts'

const schema = 'agents'
const clock = pathToFileURL(join(import.meta.dirname, 'cluster/clock.ts')).href
/** After the last fault, no run may be under way for longer. */
const settleMs = 30_000

export interface ClusterSoakOptions {
  /** All faults are over by then; what follows takes half a minute at most. */
  seconds: number
  seed: number
  clients?: number
  /** Leaves out what needs a disk that can be mounted. */
  withDisk?: boolean
  /** The longest of a fault. */
  longestMs?: number
  first?: readonly FaultKind[]
  /** Default: all that are possible here. */
  kinds?: readonly FaultKind[]
  /** Where the logs of the instances and of Postgres are kept. Default: nowhere. */
  logFolder?: string
}

export interface ClusterSoak {
  seed: number
  faults: readonly Happened[]
  /** Runs by what they are in the end. */
  ends: Map<string, number>
  answers: Map<string, number>
  executed: number
  /** Runs that were taken over: ended as `interrupted`, and handed on because they still waited. */
  interrupted: number
  handedOn: number
  deaths: Map<string, number>
  reconnections: number
  repeats: number
  slowestMs: number
  /** How often the tables were looked at in between. */
  looks: number
  /** The most of it: on a machine that is far too busy, an answer in time says nothing of the servers. */
  loadPerCore: number
  settledMs: number
  errors: Map<string, number>
  /** The first lines of the logs of each of these errors. */
  errorLines: readonly string[]
  /** A line each. */
  violations: readonly string[]
  leftOut: readonly FaultKind[]
}

/** Three instances on one Postgres, clients, and everything that may go wrong; then what clients were told against what is there. */
export async function soakCluster(options: ClusterSoakOptions): Promise<ClusterSoak> {
  const disk = options.withDisk ? await mountSmallDisk() : undefined
  try {
    return await soakOn(options, disk)
  } finally {
    await disk?.remove()
  }
}

async function soakOn(options: ClusterSoakOptions, disk: SmallDisk | undefined): Promise<ClusterSoak> {
  const { seed, seconds, clients = 18, longestMs, first = [], logFolder } = options
  const leftOut: FaultKind[] = disk === undefined ? ['disk full'] : []
  const kinds = (options.kinds ?? faultKinds).filter((kind) => !leftOut.includes(kind))
  const settings = { deadlock_timeout: '200ms' }
  await using postgres = await startPostgres({ settings, ...(disk === undefined ? {} : { parent: disk.folder }) })
  const config = agentsFile(schema)
  const env = { NODE_OPTIONS: `--no-warnings --import=${clock}` }
  const instances = await startInstances({ url: postgres.url, schema, names: ['a', 'b', 'c'], config, env })
  const told = new Told()
  const logs = new Logs()
  const kept: { name: string; log: string }[] = []
  const onEnd = ({ name }: Instance, log: string) => {
    logs.add(log)
    if (logFolder !== undefined) kept.push({ name: `${name}-${kept.length}.log`, log })
  }
  const readers = startLiveReaders(instances.all, told)
  const watch = watchSessions(told, postgres.adminUrl, schema)
  try {
    const { all } = instances
    for (const { url, name } of all) logs.know(url, name)
    const clientOf = (number: number) => new Balanced(all, createRandom(seed * 1_000 + number), told)
    await createShared(clientOf(0))
    const load = startClients(
      Array.from({ length: clients }, (_, number) => clientOf(number + 1)),
      [20, 200],
    )
    const plan = planFaults({
      ...{ seed, kinds, first, forMs: seconds * 1_000, instances: all.length },
      ...(longestMs === undefined ? {} : { longestMs }),
    })
    told.beganMs = performance.now()
    const faults = await playFaults(plan, {
      instances: all,
      postgres,
      schema,
      troubles: told.troubles,
      onEnd,
      ...(disk && { disk }),
    })
    const overMs = performance.now()
    await load.stop()
    const left = await untilSettled(postgres.adminUrl, schema, settleMs - (performance.now() - overMs))
    for (const what of left) told.wrong(`${settleMs / 1_000} s after the last fault, ${what}`)
    const settledMs = performance.now() - overMs
    const { looks, loadPerCore } = await watch.stop()
    await readers.verify()
    const ends = await verify(told, all)
    await verifyDocuments(told, all)
    const executed = await verifyEffects(told, instances.effects)
    for (const instance of all) onEnd(instance, (await instance.stop()).stderr)
    for (const what of logs.falseDeaths(faults)) told.wrong(what)
    const { interrupted, handedOn, deaths, errors, errorLines } = logs
    const { answers, reconnections, repeats, slowestMs, violations } = told
    return {
      ...{ seed, faults, ends, answers, executed, interrupted, handedOn, deaths, reconnections, repeats, slowestMs },
      ...{ looks, loadPerCore, settledMs, errors, errorLines, violations, leftOut },
    }
  } catch (error) {
    throw new Error(['The soak broke off.', ...told.violations].join('\n'), { cause: error })
  } finally {
    told.over = true
    await Promise.all([readers.stop(), watch.stop()])
    await instances.close()
    if (logFolder !== undefined) await keepLogs(logFolder, kept, join(postgres.folder, 'log'))
  }
}

async function keepLogs(
  folder: string,
  logs: readonly { name: string; log: string }[],
  postgres: string,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const { name, log } of logs) await writeFile(join(folder, name), log)
  await cp(postgres, join(folder, 'postgres.log'))
}

/** A quarter of an hour, or so many minutes, with all faults at their full length. */
export async function soakClusterFor(minutes: number): Promise<boolean> {
  if (minutes === 0) return true
  const seed = Date.now() % 1_000_000
  const soak = await soakCluster({ seed, seconds: minutes * 60, withDisk: true })
  console.log(`${minutes} minutes of faults over three instances on Postgres:\n${describeSoak(soak)}`)
  return soak.violations.length === 0
}

/** For people: faults by kind, runs by end, and what else was counted. */
export function describeSoak(soak: ClusterSoak): string {
  const kinds = new Map<string, number>()
  for (const { kind } of soak.faults) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  const list = (counts: ReadonlyMap<string, number>) =>
    [...counts]
      .toSorted(([, one], [, other]) => other - one)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none'
  const runs = [...soak.ends.values()].reduce((sum, count) => sum + count, 0)
  return [
    `| seed ${soak.seed} | |`,
    '|---|---|',
    `| faults: ${soak.faults.length} | ${list(kinds)} |`,
    `| left out | ${soak.leftOut.join(', ') || 'nothing'} |`,
    `| runs: ${runs} | ${list(soak.ends)}; ${soak.executed} noted by their agents |`,
    `| taken over | ${soak.interrupted} interrupted, ${soak.handedOn} handed on; taken for dead: ${list(soak.deaths)} |`,
    `| answers | ${list(soak.answers)} |`,
    `| sent again | ${soak.repeats} requests, ${soak.reconnections} reconnections of streams; the slowest ${(soak.slowestMs / 1_000).toFixed(1)} s |`,
    `| looks at the tables | ${soak.looks}; settled ${(soak.settledMs / 1_000).toFixed(1)} s after the last fault; the load was at most ${soak.loadPerCore.toFixed(1)} per core |`,
    `| errors in the logs | ${list(soak.errors)} |`,
    `| violations | ${soak.violations.length} |`,
    ...(soak.violations.length === 0 ? [] : explain(soak)),
  ].join('\n')
}

/** What is needed to find out how it came to violations. */
function explain({ violations, faults, errorLines }: ClusterSoak): string[] {
  return [...violations.map((what) => `violation: ${what}`), ...faults.map(describeFault), ...errorLines]
}

function describeFault({ kind, instance = 'all', fromMs, toMs }: Happened): string {
  return `${(fromMs / 1_000).toFixed(1)} s to ${(toMs / 1_000).toFixed(1)} s: ${kind}, ${instance}`
}

import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { estimateMedian, fewestValues } from './against/interval.ts'
import { type Cell, measure } from './cell.ts'
import type { Dialect } from './dialect.ts'
import { type LoadProcess, startLoad } from './load-process.ts'
import { type MeasuredProcess, startMeasured } from './measured-process.ts'
import { bin, startArgs } from './start-up.ts'

/*
 * What a stream costs in each protocol, beside our own stream: one server, the protocols in turns, and each connection goes on
 * with a session of its own. A new session with a name costs more than one without, in each protocol that has names.
 */

const protocols: readonly { name: string; dialect: Dialect }[] = [
  { name: 'A2A, simple dialect', dialect: 'agentserve' },
  { name: 'useChat', dialect: 'chat' },
  { name: 'A2A 1.0, JSON-RPC', dialect: 'official' },
  { name: 'A2A 1.0, HTTP+JSON', dialect: 'official-http' },
  { name: 'A2A 0.3, JSON-RPC', dialect: 'official-0.3' },
]
const own: Dialect = 'rest'
const connectionCounts = [32, 256]
const longFragments = 4_000

export interface ProtocolsComparison {
  /** How often each protocol is measured at each number of connections. */
  pairs: number
  measureMs: number
}

/** Markdown tables: the processor time of a stream of 20 fragments with the ratio to our own, and the time of a long one. */
export async function measureProtocols({ pairs, measureMs }: ProtocolsComparison): Promise<string> {
  const turns = Math.max(fewestValues, pairs)
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  const load = startLoad()
  let server: MeasuredProcess | undefined
  try {
    server = await startMeasured(bin, startArgs(join(folder, 'data')))
    const rows: string[] = []
    for (const connections of connectionCounts) {
      for (const protocol of protocols)
        rows.push(await compare(load, server, { ...protocol, connections, turns, measureMs }))
    }
    const long: string[] = []
    for (const { name, dialect } of [...protocols, { name: 'our own', dialect: own }]) {
      long.push(await longStream(load, server, name, dialect, measureMs))
    }
    return [
      `${turns} pairs of ${measureMs} ms, load average ${loadavg()[0]?.toFixed(1)}.`,
      '',
      '| CPU of a stream of 20 fragments | connections | our own | protocol | protocol / own | 95 % interval |',
      '|---|---|---|---|---|---|',
      ...rows,
      '',
      `| a stream of ${longFragments} fragments | p50 | p99 |`,
      '|---|---|---|',
      ...long,
    ].join('\n')
  } finally {
    await load.stop()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Comparison {
  name: string
  dialect: Dialect
  connections: number
  turns: number
  measureMs: number
}

async function compare(load: LoadProcess, process: MeasuredProcess, about: Comparison): Promise<string> {
  const { name, dialect, connections, turns, measureMs } = about
  console.error(`${name} × ${connections}`)
  const cellOf = (one: Dialect, warmUpMs: number) =>
    streamCell(load, process, one, 20, { connections, warmUpMs, measureMs })
  const pairs: { own: Cell; other: Cell }[] = []
  // The dialect makes the sessions; our own stream asks for one that is there.
  for (const one of ['agentserve', own, dialect] as const) await cellOf(one, 2_000)
  for (let turn = 0; turn < turns; turn++) {
    const cells = new Map<Dialect, Cell>()
    for (const one of turn % 2 === 0 ? [own, dialect] : [dialect, own]) cells.set(one, await cellOf(one, 200))
    pairs.push({ own: cells.get(own) as Cell, other: cells.get(dialect) as Cell })
  }
  const cpu = (which: 'own' | 'other') => estimateMedian(pairs.map((pair) => pair[which].cpuMsPerRequest)).median
  const ratio = estimateMedian(pairs.map((pair) => pair.other.cpuMsPerRequest / pair.own.cpuMsPerRequest))
  const figures = [`${cpu('own').toFixed(3)} ms`, `${cpu('other').toFixed(3)} ms`, ratio.median.toFixed(2)]
  return `| ${[name, connections, ...figures, `${ratio.low.toFixed(2)} – ${ratio.high.toFixed(2)}`].join(' | ')} |`
}

async function longStream(
  load: LoadProcess,
  process: MeasuredProcess,
  name: string,
  dialect: Dialect,
  measureMs: number,
): Promise<string> {
  const times = { connections: 1, warmUpMs: 1_000, measureMs: 2 * measureMs }
  const { p50Ms, p99Ms } = await streamCell(load, process, dialect, longFragments, times)
  return `| ${name} | ${p50Ms.toFixed(0)} ms | ${p99Ms.toFixed(0)} ms |`
}

async function streamCell(
  load: LoadProcess,
  process: MeasuredProcess,
  dialect: Dialect,
  fragments: number,
  times: { connections: number; warmUpMs: number; measureMs: number },
): Promise<Cell> {
  const sessions = `of-${times.connections}`
  const ask = { dialect, method: 'stream', agentId: 'fragments', text: `${fragments}` } as const
  const cell = await measure(load, { name: dialect, process, ask }, { ...times, sessions })
  if (cell.errors > 0) throw new Error(`${dialect}: ${cell.errors} wrong, ${cell.firstError}`)
  return cell
}

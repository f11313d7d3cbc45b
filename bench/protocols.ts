import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { estimateMedian, fewestValues } from './against/interval.ts'
import { type Cell, measure } from './cell.ts'
import type { Ask, Dialect } from './dialect.ts'
import { type LoadProcess, startLoad } from './load-process.ts'
import { measureMcpCalls } from './mcp-calls.ts'
import { type MeasuredProcess, startMeasured } from './measured-process.ts'
import { measureMounted } from './mounted.ts'
import { bin, startArgs } from './start-up.ts'

/*
 * What a stream costs in each protocol, beside our own stream: one server, the protocols in turns, and each connection goes on
 * with a session of its own. A new session with a name costs more than one without, in each protocol that has names.
 */

const protocols: readonly { name: string; dialect: Dialect }[] = [
  { name: 'A2A, simple dialect', dialect: 'agentserve' },
  { name: 'useChat', dialect: 'chat' },
  { name: 'AG-UI', dialect: 'ag-ui' },
  { name: 'chat completions', dialect: 'completions' },
  { name: 'responses', dialect: 'responses' },
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
  /** One dialect alone, or `mcp`, or `start`. Default: all. */
  part?: string | undefined
}

/**
 * Markdown tables: the processor time of a stream of 20 fragments with the ratio to our own, the time of a long one, what calls
 * of MCP tools cost, and what a start costs.
 */
export async function measureProtocols({ pairs, measureMs, part }: ProtocolsComparison): Promise<string> {
  const turns = Math.max(fewestValues, pairs)
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  const load = startLoad()
  let server: MeasuredProcess | undefined
  let bare: MeasuredProcess | undefined
  try {
    const has = (name: string) => part === undefined || part === name
    const mounted = has('start') ? await measureMounted(turns) : []
    const measured = protocols.filter(({ dialect }) => has(dialect))
    server = await startMeasured(bin, startArgs(join(folder, 'data')))
    const rows: string[] = []
    for (const connections of connectionCounts) {
      for (const protocol of measured)
        rows.push(await compare(load, server, { ...protocol, connections, turns, measureMs }))
    }
    const long: string[] = []
    for (const { name, dialect } of measured.length > 0 ? [...measured, { name: 'our own', dialect: own }] : []) {
      long.push(await longStream(load, server, name, { ...fragments(longFragments), dialect }, measureMs))
    }
    const calls: string[] = []
    if (has('mcp')) {
      const message = JSON.stringify({ message: `${longFragments}` })
      const tool = { dialect: 'mcp', method: 'send', agentId: 'ask_fragments', text: message } as const
      long.push(await longStream(load, server, 'MCP, one answer', tool, measureMs))
      bare = await startMeasured(join(import.meta.dirname, 'servers/mcp-sdk.ts'))
      calls.push(...(await measureMcpCalls({ load, server, bare }, turns, measureMs)))
    }
    const cpu =
      '| CPU of a stream of 20 fragments | connections | our own | protocol | protocol / own | 95 % interval |'
    const tables = [
      rows.length === 0 ? [] : [cpu, '|---|---|---|---|---|---|', ...rows],
      long.length === 0 ? [] : [`| a stream of ${longFragments} fragments | p50 | p99 |`, '|---|---|---|', ...long],
      calls,
      mounted,
    ]
    return [
      `${turns} pairs of ${measureMs} ms, load average ${loadavg()[0]?.toFixed(1)}.`,
      ...tables.filter((lines) => lines.length > 0).map((lines) => lines.join('\n')),
    ].join('\n\n')
  } finally {
    await load.stop()
    await server?.stop()
    await bare?.stop()
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
    streamCell(load, process, { ...fragments(20), dialect: one }, { connections, warmUpMs, measureMs })
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
  ask: Ask,
  measureMs: number,
): Promise<string> {
  const times = { connections: 1, warmUpMs: 1_000, measureMs: 2 * measureMs }
  const { p50Ms, p99Ms } = await streamCell(load, process, ask, times)
  return `| ${name} | ${p50Ms.toFixed(0)} ms | ${p99Ms.toFixed(0)} ms |`
}

function fragments(count: number) {
  return { method: 'stream', agentId: 'fragments', text: `${count}` } as const
}

async function streamCell(
  load: LoadProcess,
  process: MeasuredProcess,
  ask: Ask,
  times: { connections: number; warmUpMs: number; measureMs: number },
): Promise<Cell> {
  const sessions = `of-${times.connections}`
  const cell = await measure(load, { name: ask.dialect, process, ask }, { ...times, sessions })
  if (cell.errors > 0) throw new Error(`${ask.dialect}: ${cell.errors} wrong, ${cell.firstError}`)
  return cell
}

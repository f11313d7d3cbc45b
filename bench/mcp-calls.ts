import { estimateMedian } from './against/interval.ts'
import { type Cell, measure } from './cell.ts'
import type { Ask } from './dialect.ts'
import type { LoadProcess } from './load-process.ts'
import type { MeasuredProcess } from './measured-process.ts'

/*
 * What a call of an MCP tool costs here, beside the SDK's own server with a tool that does nothing: the difference is our part.
 * What the same costs over REST stands beside it, because a run and a search cost something in each protocol.
 */

const connections = 32

export interface McpServers {
  load: LoadProcess
  server: MeasuredProcess
  /** bench/servers/mcp-sdk.ts */
  bare: MeasuredProcess
}

interface Call {
  name: string
  ask: Ask
  rest?: Ask
}

export async function measureMcpCalls(servers: McpServers, turns: number, measureMs: number): Promise<string[]> {
  const { url } = servers.server
  const rows: string[] = []
  for (const call of await calls(url)) rows.push(await compare(servers, call, turns, measureMs))
  return [
    '| call of an MCP tool | CPU | the SDK, empty call | difference | 95 % interval | the same over REST | p50 |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ]
}

/** After it there is something to find, and a run to ask for. */
async function calls(url: string): Promise<Call[]> {
  const content = '# Lamps\n\nThe keeper lights the lamp at dusk.\n'
  await post(url, 'knowledge/content', { source: 'lamps.md', content })
  const { run_id } = await post(url, 'agents/echo/run', { input: 'hello' })
  const query = { query: 'When does the keeper light the lamp?' }
  const tool = (agentId: string, args: object): Ask => ({
    dialect: 'mcp',
    method: 'send',
    agentId,
    text: JSON.stringify(args),
  })
  return [
    { name: '`search`', ask: tool('search', query), rest: { ...tool('', query), dialect: 'search' } },
    { name: '`get_run`', ask: tool('get_run', { run_id }) },
    {
      name: '`ask_echo`',
      ask: tool('ask_echo', { message: 'hello' }),
      rest: { dialect: 'rest', method: 'send', agentId: 'echo', text: 'hello' },
    },
  ]
}

async function post(url: string, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

async function compare(servers: McpServers, call: Call, turns: number, measureMs: number): Promise<string> {
  console.error(`MCP ${call.name}`)
  const { load, server, bare } = servers
  const empty: Ask = { dialect: 'mcp', method: 'send', agentId: 'nothing', text: '{}' }
  const cellOf = async (process: MeasuredProcess, ask: Ask, warmUpMs = 200): Promise<Cell> => {
    const cell = await measure(load, { name: ask.dialect, process, ask }, { connections, warmUpMs, measureMs })
    if (cell.errors > 0) throw new Error(`${ask.dialect} ${ask.agentId}: ${cell.errors} wrong, ${cell.firstError}`)
    return cell
  }
  await cellOf(bare, empty, 2_000)
  await cellOf(server, call.ask, 2_000)
  const pairs: { empty: Cell; own: Cell }[] = []
  const rest: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    const first = turn % 2 === 0 ? await cellOf(bare, empty) : undefined
    const own = await cellOf(server, call.ask)
    pairs.push({ own, empty: first ?? (await cellOf(bare, empty)) })
    if (call.rest !== undefined) rest.push((await cellOf(server, call.rest)).cpuMsPerRequest)
  }
  const middle = (values: number[]) => estimateMedian(values).median.toFixed(3)
  const part = estimateMedian(pairs.map(({ own, empty }) => own.cpuMsPerRequest - empty.cpuMsPerRequest))
  const figures = [
    `${middle(pairs.map(({ own }) => own.cpuMsPerRequest))} ms`,
    `${middle(pairs.map(({ empty }) => empty.cpuMsPerRequest))} ms`,
    `${part.median.toFixed(3)} ms`,
    `${part.low.toFixed(3)} – ${part.high.toFixed(3)}`,
    rest.length === 0 ? '–' : `${middle(rest)} ms`,
    `${estimateMedian(pairs.map(({ own }) => own.p50Ms)).median.toFixed(1)} ms`,
  ]
  return `| ${[call.name, ...figures].join(' | ')} |`
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { estimateMedian } from './against/interval.ts'
import { startMeasured } from './measured-process.ts'
import { bin, configFile, startArgs } from './start-up.ts'

/*
 * What the OpenAI-compatible routes and the MCP server add to a start and to its memory: `agentserve start` with them and with
 * `openai: false` and `mcp: false`, in turns. The MCP SDK is loaded by the first request for it.
 */

interface Started {
  /** From the start of the program until `/health` has answered. */
  ms: number
  idleMb: number
  /** After the first request for MCP. */
  usedMb?: number
}

export async function measureMounted(turns: number): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  try {
    const without = join(folder, 'agent.config.ts')
    const source = JSON.stringify(configFile)
    await writeFile(
      without,
      `import config from ${source}\nexport default { ...config, server: { openai: false, mcp: false } }\n`,
    )
    const pairs: { own: Started; other: Started }[] = []
    // The first start of each fills the caches of the disk.
    for (const config of [configFile, without]) await start(folder, config)
    for (let turn = 0; turn < turns; turn++) {
      const first = turn % 2 === 0 ? await start(folder, without) : undefined
      const own = await start(folder, configFile, true)
      pairs.push({ own, other: first ?? (await start(folder, without)) })
    }
    const row = (name: string, unit: string, value: (one: Started) => number) => {
      const middle = (which: 'own' | 'other') =>
        estimateMedian(pairs.map((pair) => value(pair[which]))).median.toFixed(0)
      const more = estimateMedian(pairs.map(({ own, other }) => value(own) - value(other)))
      const interval = `${more.low.toFixed(1)} – ${more.high.toFixed(1)}`
      return `| ${name} | ${middle('other')} ${unit} | ${middle('own')} ${unit} | ${more.median.toFixed(1)} ${unit} | ${interval} |`
    }
    return [
      '| | without `/v1` and `/mcp` | with them | difference | 95 % interval |',
      '|---|---|---|---|---|',
      row('`agentserve start`, until `/health` answers', 'ms', ({ ms }) => ms),
      row('memory after the start', 'MB', ({ idleMb }) => idleMb),
      row('memory after the first MCP request', 'MB', ({ idleMb, usedMb = idleMb }) => usedMb),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function start(folder: string, config: string, use = false): Promise<Started> {
  const data = await mkdtemp(join(folder, 'data-'))
  const startedAt = performance.now()
  const server = await startMeasured(bin, startArgs(data, 'start', undefined, config))
  try {
    await (await fetch(`${server.url}/health`)).arrayBuffer()
    const ms = performance.now() - startedAt
    const mb = async () => (await server.ask('look')).rssBytes / 2 ** 20
    const idleMb = await mb()
    if (!use) return { ms, idleMb }
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    const answer = await fetch(`${server.url}/mcp`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`POST /mcp: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
    return { ms, idleMb, usedMb: await mb() }
  } finally {
    await server.stop()
  }
}

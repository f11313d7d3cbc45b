import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from './percentile.ts'
import { bin, untilEnd } from './start-up.ts'

const documents = 200
const searches = 30
/** Longer than the program holds the data folder without a call. */
const idleMs = 1_500

interface Start {
  nodeMs: number
  initializeMs: number
  toolsMs: number
  firstSearchMs: number
  searchMs: number[]
  afterIdleMs: number
}

/**
 * A Markdown table: how long `agentserve mcp` takes in a folder of documents without a config and without a server, seen from a
 * host, from the start of the program on. Each start has a new folder.
 */
export async function measureMcpStdio({ starts }: { starts: number }): Promise<string> {
  const all: Start[] = []
  for (let count = 0; count <= starts; count++) {
    const measured = await inNewFolder()
    // The first one compiles.
    if (count > 0) all.push(measured)
  }
  const row = (what: string, values: number[], limit = '') =>
    `| ${what} | ${percentile(values, 0.5)} ms | ${percentile(values, 0.95)} ms | ${limit} |`
  return [
    `\`agentserve mcp\` in a folder of ${documents} documents, ${all.length} starts, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}:`,
    '',
    '| | median | p95 | must |',
    '| --- | --- | --- | --- |',
    row(
      '`node -e 0`, for comparison',
      all.map(({ nodeMs }) => nodeMs),
    ),
    row(
      'from the start to the answer to `initialize`',
      all.map(({ initializeMs }) => initializeMs),
      '≤ 500 ms',
    ),
    row(
      'then `tools/list`: the config',
      all.map(({ toolsMs }) => toolsMs),
    ),
    row(
      'then the first `search`: documents are being read',
      all.map(({ firstSearchMs }) => firstSearchMs),
    ),
    row(
      '`search` once the documents are in',
      all.flatMap(({ searchMs }) => searchMs),
      '≤ 50 ms',
    ),
    row(
      '`search` after a pause: the folder is opened again',
      all.map(({ afterIdleMs }) => afterIdleMs),
    ),
  ].join('\n')
}

async function inNewFolder(): Promise<Start> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  try {
    await mkdir(join(folder, 'docs'))
    for (let index = 0; index < documents; index++) {
      const paragraphs = Array.from(
        { length: 8 },
        (_, part) => `Part ${part} says that word${index}x${part} is port ${index + part}.`,
      )
      await writeFile(join(folder, `docs/guide-${index}.md`), `# Guide ${index}\n\n${paragraphs.join('\n\n')}\n`)
    }
    return await measureStart(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function measureStart(folder: string): Promise<Start> {
  const nodeMs = await untilEnd(['-e', '0'])
  const startedAt = performance.now()
  const child = spawn(process.execPath, [bin, 'mcp'], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] })
  const gone = once(child, 'exit')
  const waiting = new Map<number, (answer: Answer) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer
    waiting.get(answer.id)?.(answer)
  })
  let last = 0
  async function ask(method: string, params: object): Promise<{ ms: number; text: string }> {
    const id = ++last
    const { promise, resolve } = Promise.withResolvers<Answer>()
    waiting.set(id, resolve)
    const askedAt = performance.now()
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const { result } = await promise
    if (result === undefined || result.isError) throw new Error(`${method} failed`)
    return { ms: performance.now() - askedAt, text: result.content?.[0]?.text ?? '' }
  }
  const search = (query: string) => ask('tools/call', { name: 'search', arguments: { query } })
  try {
    const clientInfo = { name: 'bench', version: '1' }
    await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    const initializeMs = performance.now() - startedAt
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    const { ms: toolsMs } = await ask('tools/list', {})
    const { ms: firstSearchMs } = await search('word7x3')
    while ((await search('port')).text.includes('files_to_come')) await sleep(50)
    const searchMs: number[] = []
    for (let count = 0; count < searches; count++) searchMs.push((await search(`word${count}x2 port`)).ms)
    await sleep(idleMs)
    const { ms: afterIdleMs } = await search('word9x1')
    return { nodeMs, initializeMs, toolsMs, firstSearchMs, searchMs, afterIdleMs }
  } finally {
    child.stdin.end()
    await gone
  }
}

interface Answer {
  id: number
  result?: { isError?: boolean; content?: { text: string }[] }
}

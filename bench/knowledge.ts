import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from '../src/client/client.ts'
import { writeCorpus } from './knowledge-corpus.ts'
import { percentile } from './percentile.ts'
import { bin, startArgs } from './start-up.ts'

/*
 * Ingestion of `--files` Markdown files of 5 KB into a server that serves runs meanwhile, and hybrid searches over it.
 * Build first. Whatever else the machine does is measured too.
 */

const { values: options } = parseArgs({
  options: { files: { type: 'string', default: '10000' }, searches: { type: 'string', default: '300' } },
})
const files = Number(options.files)
const bytesEach = 5_000

const folder = await mkdtemp(join(tmpdir(), 'agentserve-knowledge-'))
const probe = join(import.meta.dirname, 'loop-probe.ts')
const figures = join(folder, 'loop.json')
await writeCorpus(join(folder, 'corpus'), { files, bytesEach })
const server = spawn(process.execPath, ['--no-warnings', '--import', probe, bin, ...startArgs(join(folder, 'data'))], {
  stdio: ['ignore', 'pipe', 'ignore'],
  env: { ...process.env, LOOP_PROBE: figures },
})
try {
  const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string]
  const { url } = JSON.parse(line) as { url: string }
  const client = createClient({ url })
  await measureRuns(client, 3_000)
  const quiet = await measureRuns(client, 5_000)
  await resetProbe()
  const first = await ingest(url, client)
  const during = { ...first, ...(await readProbe()) }
  // The vector index is being made meanwhile.
  await sleep(20_000)
  const again = await ingest(url, client)
  const megabytes = (files * bytesEach) / 1e6
  console.log(`${files} files of 5 KB: ${first.seconds.toFixed(1)} s, ${(megabytes / first.seconds).toFixed(2)} MB/s`)
  console.log(
    `  server: peak RSS ${during.peakRssMb} MB, loop delay p99 ${during.loopP99Ms} ms, max ${during.loopMaxMs} ms`,
  )
  console.log(
    `  runs: p50 ${quiet.p50} ms p99 ${quiet.p99} ms alone, p50 ${during.p50} ms p99 ${during.p99} ms meanwhile`,
  )
  const part = (again.seconds / first.seconds) * 100
  console.log(`again, unchanged: ${again.seconds.toFixed(2)} s, ${part.toFixed(1)} % of the first time`)
  const status = await client.knowledge.status()
  const search = await measureSearch(client)
  console.log(`hybrid through HTTP at ${status.chunks} chunks: p50 ${search.p50} ms, p99 ${search.p99} ms`)
  await client.close()
  server.kill('SIGTERM')
  await once(server, 'exit')
  const { measureBare } = await import('./knowledge-bare.ts')
  const bare = await measureBare(join(folder, 'data', 'knowledge'), queries)
  console.log(`the same two queries bare, side by side: p50 ${bare.p50} ms, p99 ${bare.p99} ms`)
} finally {
  server.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
}

function queries(): string[] {
  const words = ['bresta', 'cedifo', 'tragri', 'lokimu', 'wixo', 'zudru', 'fletra', 'hajeki', 'namupe', 'quirosu']
  return Array.from({ length: Number(options.searches) }, (_, at) => {
    const pick = (step: number) => words[(at * step) % words.length]
    return `how does ${pick(1)} ${pick(3)} work with ${pick(7)}`
  })
}

async function ingest(url: string, client: ReturnType<typeof createClient>) {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [bin, 'ingest', 'corpus', '--url', url], {
    cwd: folder,
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  let over = false
  void ended.then(() => (over = true))
  const runs = await measureRuns(client, 600_000, () => over)
  await ended
  return { seconds: (performance.now() - startedMs) / 1000, ...runs }
}

/** A run every 20 ms, as somebody would who talks to the server. */
async function measureRuns(client: ReturnType<typeof createClient>, forMs: number, over = () => false) {
  const times: number[] = []
  for (const endMs = performance.now() + forMs; performance.now() < endMs && !over(); ) {
    const startedMs = performance.now()
    await client.runs.start('echo', { input: 'hello' })
    times.push(performance.now() - startedMs)
    await sleep(20)
  }
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}

async function measureSearch(client: ReturnType<typeof createClient>) {
  const all = queries()
  for (const query of all.slice(0, 20)) await client.knowledge.search(query)
  const times: number[] = []
  for (const query of all) {
    const startedMs = performance.now()
    await client.knowledge.search(query)
    times.push(performance.now() - startedMs)
  }
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}

async function resetProbe(): Promise<void> {
  await writeFile(figures, '')
  process.kill(server.pid ?? 0, 'SIGUSR2')
  await readProbe()
  await writeFile(figures, '')
}

/** What the server's loop did since the last time. */
async function readProbe(): Promise<{ loopP99Ms: number; loopMaxMs: number; peakRssMb: number }> {
  process.kill(server.pid ?? 0, 'SIGUSR2')
  for (;;) {
    const text = await readFile(figures, 'utf8')
    if (text !== '') return JSON.parse(text)
    await sleep(20)
  }
}

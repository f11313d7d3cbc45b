import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from '../src/client/create.ts'
import { writeCorpus } from './knowledge-corpus.ts'
import { measureSearch, searchTable } from './knowledge-search.ts'
import { percentile } from './percentile.ts'
import { bin, startArgs } from './start-up.ts'

/*
 * Ingestion of `--files` Markdown files of 5 KB (10,000; 0 leaves it out) into a server that serves runs meanwhile, and
 * `--searches` (300) of collections of exactly so many `--chunks` (10000,100000; empty leaves them out). Build first.
 * Whatever else the machine does is measured too.
 */

const { values: options } = parseArgs({
  options: {
    files: { type: 'string', default: '10000' },
    searches: { type: 'string', default: '300' },
    chunks: { type: 'string', default: '10000,100000' },
  },
})
const bytesEach = 5_000
if (options.files !== '0') await measureIngestion(Number(options.files))
const sizes = options.chunks.split(',').filter((size) => size !== '')
const rows = []
for (const size of sizes) rows.push(await measureSearch(Number(size), Number(options.searches)))
if (rows.length > 0) console.log(searchTable(rows))

async function measureIngestion(files: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-knowledge-'))
  const probe = join(import.meta.dirname, 'loop-probe.ts')
  const figures = join(folder, 'loop.json')
  await writeCorpus(join(folder, 'corpus'), { files, bytesEach })
  const server = spawn(
    process.execPath,
    ['--no-warnings', '--import', probe, bin, ...startArgs(join(folder, 'data'))],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, LOOP_PROBE: figures },
    },
  )
  try {
    const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const client = createClient({ url })
    await measureRuns(client, 3_000)
    const quiet = await measureRuns(client, 5_000)
    await resetProbe(server.pid ?? 0, figures)
    const first = await ingest(folder, url, client)
    const during = { ...first, ...(await readProbe(server.pid ?? 0, figures)) }
    // The vector index is being made meanwhile.
    await sleep(20_000)
    const again = await ingest(folder, url, client)
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
    await client.close()
    server.kill('SIGTERM')
    await once(server, 'exit')
  } finally {
    server.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

async function ingest(folder: string, url: string, client: ReturnType<typeof createClient>) {
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
    await client.agents.run('echo', { input: 'hello' })
    times.push(performance.now() - startedMs)
    await sleep(20)
  }
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}

async function resetProbe(pid: number, figures: string): Promise<void> {
  await writeFile(figures, '')
  process.kill(pid, 'SIGUSR2')
  await readProbe(pid, figures)
  await writeFile(figures, '')
}

/** What the server's loop did since the last time. */
async function readProbe(
  pid: number,
  figures: string,
): Promise<{ loopP99Ms: number; loopMaxMs: number; peakRssMb: number }> {
  process.kill(pid, 'SIGUSR2')
  for (;;) {
    const text = await readFile(figures, 'utf8')
    if (text !== '') return JSON.parse(text)
    await sleep(20)
  }
}

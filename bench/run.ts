import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openBrowser } from '../test/support/browser/browser.ts'
import { compareBuilds } from './against/compare.ts'
import { commitDelayP99Ms } from './commit-delay.ts'
import { measureFirstMinutes } from './first-minutes.ts'
import { measureLive } from './live.ts'
import { startLoad } from './load-process.ts'
import { measureMcpStdio } from './mcp-stdio.ts'
import { type MeasuredProcess, startMeasured } from './measured-process.ts'
import { measurePostgres } from './postgres.ts'
import { measureProtocols } from './protocols.ts'
import { errorsOf, type Measured, toMarkdown } from './report.ts'
import { Scenarios, type Servers } from './scenarios.ts'
import { asStarted, bin, measureStartUp, startArgs } from './start-up.ts'
import { measureGrid } from './studio/grid.ts'
import { measureSaves, tableOfSaves } from './studio/saves.ts'
import { describeSoak, isWithin, soakStudio } from './studio/soak.ts'
import { measureStudio } from './studio.ts'
import { writeInto } from './write-into.ts'

/*
 * What a run costs, beside what bare node:http and the A2A SDK cost on the same machine at the same time: ratios count, since
 * the figures themselves change with the machine. `--quick`: a second for each row. `--write`: into docs/benchmarks.md.
 * `--against` a built checkout of another commit: this build beside that one instead, in `--pairs` turns (10 at least), or
 * only the rows whose name has the text of `--only`. `--only live` alone: what a reader of `GET /live` costs, in `--pairs` turns.
 * `--only protocols` alone: what a stream costs in each protocol, what an MCP call costs, and what both add to a start, in
 * `--pairs` turns; `protocols:responses`, or another dialect of bench/dialect.ts, `protocols:mcp` and `protocols:start`: one part of it.
 * `--only mcp-stdio` alone: how long `agentserve mcp` takes to open and to search, in as many starts as `--pairs` says.
 * `--only postgres` alone: runs on Postgres beside SQLite; `postgres:send`, `history`, `instances` or `tails`: one part of it.
 * `--only studio` alone: the page in a browser, beside its budgets; `studio:soak`: what it holds after ten minutes (`--quick`: one);
 * `studio:grid`: 200 saved conversations are run, filtered and compared in the page.
 * `studio:saves`: from the save of a file until the diff of an answer is drawn, in a project of each template.
 * `--only first-minutes` alone: `agentserve` without a command, from its start to the first question and the first answer.
 * With `--write` these go into docs/benchmarks.md too, in place of all parts that were there.
 */

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean' },
    against: { type: 'string' },
    pairs: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
  },
})
if (options.against !== undefined) {
  const { against, quick, only } = options
  console.log(await compareBuilds({ against, quick, only, pairs: Number(options.pairs) }))
  process.exit()
}
if (options.only === 'live') {
  console.log(await measureLive({ pairs: Number(options.pairs), measureMs: options.quick ? 500 : 2_000 }))
  process.exit()
}
const [only, part] = options.only.split(':')
if (only === 'protocols') {
  console.log(await measureProtocols({ pairs: Number(options.pairs), measureMs: options.quick ? 500 : 2_000, part }))
  process.exit()
}
if (only === 'mcp-stdio') {
  console.log(await measureMcpStdio({ starts: Number(options.pairs) }))
  process.exit()
}
if (only === 'first-minutes') {
  const markdown = await measureFirstMinutes({ starts: options.quick ? 3 : Number(options.pairs) })
  console.log(markdown)
  if (options.write) await writeInto('measured in the first minutes', markdown)
  process.exit()
}
if (only === 'postgres') {
  const markdown = await measurePostgres({ quick: options.quick, part })
  console.log(markdown)
  if (options.write) await writeInto('measured on Postgres', markdown)
  process.exit()
}
if (options.only === 'studio:soak') {
  const soaked = await soakStudio(options.quick ? 1 : 10)
  const markdown = describeSoak(soaked)
  console.log(markdown)
  if (options.write) await writeInto('measured in the studio for long', markdown)
  process.exit(isWithin(soaked) ? 0 : 1)
}
if (options.only === 'studio:saves') {
  const chromium = await openBrowser()
  const markdown = tableOfSaves(await measureSaves(chromium, options.quick ? 5 : 20))
  await chromium.close()
  console.log(markdown)
  if (options.write) await writeInto('measured from saves', markdown)
  process.exit()
}
if (options.only === 'studio:grid') {
  const chromium = await openBrowser()
  const markdown = await measureGrid(chromium, options.quick ? 2 : 5)
  await chromium.close()
  console.log(markdown)
  if (options.write) await writeInto('measured in the grid', markdown)
  process.exit()
}
if (only === 'studio') {
  const settings = options.quick
    ? { rounds: 2, sessions: 5_000, measureMs: 500 }
    : { rounds: 7, sessions: 100_000, measureMs: 2_000 }
  const markdown = await measureStudio(settings)
  console.log(markdown)
  if (options.write) await writeInto('measured in the studio', markdown)
  process.exit()
}
const times = options.quick ? { warmUpMs: 500, measureMs: 1000 } : { warmUpMs: 1000, measureMs: 3000 }
const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))

const names: Record<string, string> = {
  echo: 'bare node:http',
  sse: 'bare SSE on node:http',
  yardstick: 'bare node:http and SQLite',
  sdk: 'A2A SDK, in memory',
  agentserve: 'agentserve',
}

const startUp = await measureStartUp()
const script = (name: string, ...args: string[]) => startMeasured(join(import.meta.dirname, 'servers', name), args)
const agentserve = await startMeasured(bin, startArgs(join(folder, 'data')), asStarted.flags, asStarted.environment)
const servers: Servers = {
  echo: await script('echo.ts'),
  sse: await script('sse.ts'),
  yardstick: await script('yardstick.ts', join(folder, 'data', 'agentserve.db'), join(folder, 'yardstick.db')),
  sdk: await script('a2a-sdk.ts'),
  agentserve,
}
const load = startLoad()
try {
  const idle = await residentBytes()
  const scenarios = new Scenarios(servers, load, times)
  const sends = await scenarios.sends()
  const streams = await scenarios.streams()
  const firstFragments = await scenarios.firstFragments(streams)
  const longRuns = await scenarios.longRuns()
  await sleep(2000)
  const after = await residentBytes()
  const memory = await Promise.all(
    Object.entries(servers).map(async ([server, process]: [string, MeasuredProcess], index) => ({
      server: names[server] ?? server,
      idle: idle[index] ?? 0,
      peak: await process.peakRssBytes(),
      after: after[index] ?? 0,
    })),
  )
  const measured: Measured = {
    ...{ sends, streams, firstFragments, longRuns, startUp, memory },
    commitDelayP99Ms: commitDelayP99Ms(folder),
    secondsPerCell: times.measureMs / 1000,
  }
  const markdown = toMarkdown(measured)
  console.log(markdown)
  if (options.write) await writeInto('measured', markdown)
  const errors = errorsOf(measured)
  for (const error of errors) console.error(error)
  if (errors.length > 0) process.exitCode = 1
} finally {
  await load.stop()
  for (const server of Object.values(servers)) await server.stop()
  await rm(folder, { recursive: true, force: true })
}

async function residentBytes(): Promise<number[]> {
  return Promise.all(Object.values(servers).map(async (server) => (await server.ask('look')).rssBytes))
}

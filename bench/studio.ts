import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { StudioManifest } from '../scripts/studio/plugin.ts'
import { sqliteStore } from '../src/store/sessions/sqlite/store.ts'
import { openBrowser, type TestBrowser } from '../test/support/browser/browser.ts'
import { measure } from './cell.ts'
import { type LoadProcess, startLoad } from './load-process.ts'
import { fillSessions } from './many-sessions.ts'
import { type MeasuredProcess, startMeasured } from './measured-process.ts'
import { percentile } from './percentile.ts'
import { bin, startArgs, thisBuild } from './start-up.ts'
import { goTo, loadTimes, memoryOf, scroll, until, watchFragments, watchLoad } from './studio-page.ts'

/* The page in a real Chromium, against the built server in a process of its own, all on the same cores; figures beside their budgets. */

const events = 10_000
const frames = 120
const presses = 20
const pacedSeconds = 3
const load = { connections: 32, warmUpMs: 1_000 }

interface Round {
  shell: number
  sessions: number
  sessionFrame: number
  blank: number
  open: number
  eventFrame: number
  heapMb: number
  nodes: number
  eventP50: number
  eventP95: number
  press: number
  runs: number
  runsWithPage: number
}

/** A Markdown table: medians of `rounds` rounds, each with every measure in a new browser profile. */
export async function measureStudio({
  rounds,
  sessions,
  measureMs,
}: {
  rounds: number
  sessions: number
  measureMs: number
}) {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  const all: Round[] = []
  let server: MeasuredProcess | undefined
  let chromium: TestBrowser | undefined
  const loading = startLoad()
  try {
    console.error(`filling ${sessions} sessions`)
    await fill(join(folder, 'agentserve.db'), sessions)
    server = await startMeasured(
      bin,
      startArgs(folder, 'start', thisBuild, join(import.meta.dirname, 'studio.config.ts')),
    )
    chromium = await openBrowser()
    const huge = await ask(server.url, 'fragments', { input: String(events) })
    // The first one compiles.
    for (let round = 0; round <= rounds; round++) {
      console.error(`round ${round} of ${rounds}`)
      const measured = await measureRound({ chromium, server, loading, huge, measureMs })
      if (round > 0) all.push(measured)
    }
  } finally {
    await loading.stop()
    await chromium?.close()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return tableOf(all, sessions, await sizes())
}

async function fill(path: string, sessions: number): Promise<void> {
  const store = sqliteStore({ path, synchronous: 'NORMAL' })
  await store.open()
  await fillSessions(store, sessions, (n) => new Date(Date.UTC(2026, 0, 1) + n * 100).toISOString())
  await store.close()
}

interface Asked {
  run_id: string
  session_id: string
}

async function ask(url: string, agent: string, body: object): Promise<Asked> {
  const answer = await fetch(`${url}/api/v1/agents/${agent}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${agent}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Asked
}

interface Measuring {
  chromium: TestBrowser
  server: MeasuredProcess
  loading: LoadProcess
  huge: Asked
  measureMs: number
}

async function measureRound({ chromium, server, loading, huge, measureMs }: Measuring): Promise<Round> {
  const runs = async () => {
    const asked = { dialect: 'agentserve', method: 'send', agentId: 'echo', text: '1' } as const
    const cell = await measure(loading, { name: 'studio', process: server, ask: asked }, { ...load, measureMs })
    if (cell.errors > 0) throw new Error(`${cell.errors} wrong, ${cell.firstError}`)
    return cell.perSecond
  }
  const context = await chromium.browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    await context.addInitScript(watchLoad)
    const page = await context.newPage()
    await page.goto(`${server.url}/studio`)
    const loaded = await loadTimes(page)
    const scrolledSessions = await scroll(page, '[role=listbox][aria-label=Sessions]', frames)
    const path = `/studio/s/${huge.session_id}`
    await goTo(page, path, `document.querySelector('[role=article], article') !== null`)
    const isDrawn = `[...document.querySelectorAll('[role=treegrid] [role=row]')].some((row) => /end/.test(row.textContent))`
    const open = await goTo(page, `${path}/r/${huge.run_id}`, isDrawn)
    await page.getByRole('tab', { name: /events/i }).click()
    await page
      .getByRole('listbox', { name: /events/i })
      .getByRole('option')
      .first()
      .waitFor()
    const scrolledEvents = await scroll(page, '[role=listbox][aria-label^=Events]', frames)
    const memory = await memoryOf(await context.newCDPSession(page))
    const { late, pressed } = await measureLive(page, server.url)
    await goTo(page, '/studio', `document.querySelector('article') === null`)
    const runsWithPage = await runs()
    await context.close()
    return {
      ...{ ...loaded, open, ...memory, runsWithPage, runs: await runs() },
      sessionFrame: percentile(scrolledSessions.frames, 0.95),
      blank: scrolledSessions.blankMs,
      eventFrame: percentile(scrolledEvents.frames, 0.95),
      eventP50: percentile(late, 0.5),
      eventP95: percentile(late, 0.95),
      press: Math.max(...pressed),
    }
  } finally {
    await context.close()
  }
}

/** A run of 100 events a second in an open conversation, while somebody writes. */
async function measureLive(page: Awaited<ReturnType<TestBrowser['browser']['newPage']>>, url: string) {
  const { session_id } = await ask(url, 'echo', { input: 'first' })
  await goTo(page, `/studio/s/${session_id}`, `document.querySelector('article') !== null`)
  await page.evaluate(watchFragments)
  await ask(url, 'paced', { input: String(pacedSeconds), session_id, background: true })
  await until(page, 'window.late.length > 10')
  const field = page.getByRole('textbox', { name: /message/i })
  for (let press = 0; press < presses; press++) await field.press('a', { delay: 20 })
  await until(page, `window.late.length >= ${pacedSeconds * 100}`)
  // Faster presses than the observer tells of count as what it tells of.
  return page.evaluate('({ late: window.late, pressed: [16, ...window.pressed] })') as Promise<
    Record<'late' | 'pressed', number[]>
  >
}

interface Sizes {
  first: number[]
  whole: number[]
}

/** Gzip and Brotli: of what is loaded first, and of everything. */
async function sizes(): Promise<Sizes> {
  const folder = join(thisBuild, 'dist/web/studio')
  const { files, script, style } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as StudioManifest
  const sizeOf = async (names: string[]) => {
    const contents = await Promise.all(names.map((name) => readFile(join(folder, name))))
    const sum = (pack: (content: Buffer) => Buffer) =>
      contents.reduce((all, content) => all + pack(content).length, 0) / 1024
    return [sum((content) => gzipSync(content, { level: 9 })), sum((content) => brotliCompressSync(content))]
  }
  return { first: await sizeOf([script, style]), whole: await sizeOf(files) }
}

function tableOf(rounds: readonly Round[], sessions: number, { first, whole }: Sizes): string {
  const middle = (name: keyof Round) =>
    percentile(
      rounds.map((round) => round[name]),
      0.5,
    )
  const most = (name: keyof Round) => Math.max(...rounds.map((round) => round[name])).toFixed(0)
  const row = (what: string, budget: string, name: keyof Round, unit = 'ms') =>
    `| ${what} | ${budget} | ${middle(name)} ${unit} | ${most(name)} ${unit} |`
  const size = (what: string, budget: string, [gzip, brotli]: number[]) =>
    `| ${what} | ${budget} | ${gzip?.toFixed(1)} KB (Brotli ${brotli?.toFixed(1)}) | |`
  const kept = percentile(
    rounds.map((round) => (100 * round.runsWithPage) / round.runs),
    0.5,
  )
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), load average ${loadavg()[0]?.toFixed(1)}, ` +
      `Node ${process.version}, ${rounds.length} rounds, ${sessions.toLocaleString('en')} sessions.`,
    '',
    '| What | Budget | Median | Worst round |',
    '|---|---|---|---|',
    size('Script and style that are loaded first, gzipped', '≤ 60 KB', first),
    size('All scripts and styles, gzipped', '≤ 100 KB', whole),
    row('Frame of the list on screen, nothing cached', '≤ 150 ms', 'shell'),
    row('Sessions on screen', '≤ 350 ms', 'sessions'),
    row(`A run of ${events.toLocaleString('en')} events, opened: its steps on screen`, '≤ 400 ms', 'open'),
    row('Scrolling the sessions, 800 px a frame: p95 of a frame', '≤ 20 ms', 'sessionFrame'),
    row('Scrolling the sessions: longest blank row', '≤ 100 ms', 'blank'),
    row(`Scrolling ${events.toLocaleString('en')} events: p95 of a frame`, '≤ 20 ms', 'eventFrame'),
    row('Event of a run until it is on screen, 100 a second: p50', '≤ 25 ms', 'eventP50'),
    row('Event of a run until it is on screen, 100 a second: p95', '≤ 50 ms', 'eventP95'),
    row('Key press while text streams: slowest response (told in steps of 8 ms, from 16 on)', '≤ 50 ms', 'press'),
    row('Heap with that run open', '≤ 40 MB', 'heapMb', 'MB'),
    row('Nodes with that run open', '≤ 3,500', 'nodes', ''),
    row('Runs without a page', '', 'runs', '/s'),
    `| Runs with an open page | ≥ 95 % | ${kept} % | |`,
  ].join('\n')
}

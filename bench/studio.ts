import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { sqliteStore } from '../src/store/sessions/sqlite/store.ts'
import { openBrowser, type TestBrowser } from '../test/support/browser/browser.ts'
import { measure } from './cell.ts'
import { compareReader } from './live.ts'
import { type LoadProcess, startLoad } from './load-process.ts'
import { fillSessions } from './many-sessions.ts'
import { type MeasuredProcess, startMeasured } from './measured-process.ts'
import { percentile } from './percentile.ts'
import { bin, startArgs, thisBuild } from './start-up.ts'
import { type Asked, ask } from './studio/ask.ts'
import { countCalls, look, workOf } from './studio/hidden.ts'
import { sizes } from './studio/sizes.ts'
import { measureStart } from './studio/start.ts'
import { studioEvents as events, type Round, tableOf } from './studio/table.ts'
import { goTo, loadTimes, memoryOf, scroll, until, watchFragments, watchLoad } from './studio-page.ts'

/* The page in a real Chromium, against the built server in a process of its own, all on the same cores; figures beside their budgets. */

const frames = 120
const presses = 20
const pacedSeconds = 3
const hiddenMs = 1_000
const load = { connections: 32, warmUpMs: 1_000 }

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
  const pairs = Math.max(6, rounds)
  const reads = await compareReader({ pairs, measureMs })
  const left = await compareReader({ pairs, measureMs, reader: 'has left' })
  return tableOf({ rounds: all, sessions, sizes: await sizes(), reads, left, start: await measureStart(2 * pairs) })
}

async function fill(path: string, sessions: number): Promise<void> {
  const store = sqliteStore({ path, synchronous: 'NORMAL' })
  await store.open()
  await fillSessions(store, sessions, (n) => new Date(Date.UTC(2026, 0, 1) + n * 100).toISOString())
  await store.close()
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
    await context.addInitScript(countCalls)
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
    const { seen, hidden } = await measureHidden(page, server.url)
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
      hiddenWork: hidden.timers + hidden.requests,
      hiddenScript: hidden.scriptMs,
      seenScript: seen.scriptMs,
    }
  } finally {
    await context.close()
  }
}

/** A run of 100 events a second in an open conversation, while somebody writes. */
async function measureLive(page: Page, url: string) {
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

/** What the page does while a run streams in its conversation: seen, and hidden. */
async function measureHidden(page: Page, url: string) {
  const debug = await page.context().newCDPSession(page)
  const { session_id } = await ask(url, 'echo', { input: 'first' })
  await goTo(page, `/studio/s/${session_id}`, `document.querySelector('article') !== null`)
  await page.evaluate(watchFragments)
  await ask(url, 'paced', { input: '4', session_id, background: true })
  await until(page, 'window.late.length > 10')
  const seen = await workOf(page, debug, hiddenMs)
  await look(page, 'hidden')
  // What was asked for before is over.
  await page.evaluate('new Promise((drawn) => setTimeout(drawn, 100))')
  const hidden = await workOf(page, debug, hiddenMs)
  await look(page, 'visible')
  await until(page, 'window.late.length >= 400')
  return { seen, hidden }
}

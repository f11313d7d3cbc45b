import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { openBrowser } from '../../test/support/browser/browser.ts'
import { startMeasured } from '../measured-process.ts'
import { bin, startArgs, thisBuild } from '../start-up.ts'
import { goTo, until } from '../studio-page.ts'
import { ask } from './ask.ts'

/* An open page for a long time, against the built server: what it holds at the end beside what it held at the beginning. */

const secondsOfRun = 10
const eventsPerSecond = 100
/** Opened one after the other, before and after. */
const openedRuns = 50
const most = { grownMb: 5, nodes: 3_500, detached: 0 }

interface Held {
  heapMb: number
  nodes: number
  listeners: number
  /** Nodes outside of the page that something holds. */
  detached: number
}

export interface Soaked {
  minutes: number
  events: number
  before: Held
  after: Held
}

/** Runs of 100 events a second one after the other in the open session, each opened to its steps while it works. */
export async function soakStudio(minutes: number): Promise<Soaked> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-soak-'))
  const config = join(import.meta.dirname, '../studio.config.ts')
  const server = await startMeasured(bin, startArgs(folder, 'start', thisBuild, config))
  const chromium = await openBrowser()
  try {
    const page = await (await chromium.browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
    const { session_id } = await ask(server.url, 'echo', { input: 'first' })
    const path = `/studio/s/${session_id}`
    await page.goto(server.url + path)
    await until(page, `document.querySelector('article') !== null`)
    const debug = await page.context().newCDPSession(page)
    const work = () => streamOne(page, server.url, path, session_id)
    // So many turns as the page keeps: from then on it may not grow.
    for (let run = 1; run < openedRuns; run++) await ask(server.url, 'fragments', { input: '1000', session_id })
    await work()
    await openEach(page, path, server.url, session_id)
    const before = await heldBy(debug)
    const end = performance.now() + minutes * 60_000
    let runs = 0
    for (; performance.now() < end; runs++) {
      await work()
      if (runs % 6 === 5) console.error(`${runs + 1} runs: ${describe(await heldBy(debug))}`)
    }
    await openEach(page, path, server.url, session_id)
    const after = await heldBy(debug)
    return { minutes, events: runs * secondsOfRun * eventsPerSecond, before, after }
  } finally {
    await chromium.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

export function isWithin({ before, after }: Soaked): boolean {
  return after.heapMb - before.heapMb < most.grownMb && after.nodes < most.nodes && after.detached <= most.detached
}

export function describeSoak(soaked: Soaked): string {
  const { minutes, events, before, after } = soaked
  const row = (what: string, budget: string, name: keyof Held, unit = '') =>
    `| ${what} | ${budget} | ${before[name]}${unit} | ${after[name]}${unit} |`
  return [
    `${minutes} minutes, ${events.toLocaleString('en')} events of runs, each opened to its steps, and ${openedRuns} runs opened before and after.`,
    '',
    '| What the page holds | Budget | At the beginning | At the end |',
    '|---|---|---|---|',
    row('Heap', `grows by less than ${most.grownMb} MB`, 'heapMb', ' MB'),
    row('Nodes', `less than ${most.nodes.toLocaleString('en')}`, 'nodes'),
    row('Nodes outside of the page', `${most.detached}`, 'detached'),
    row('Listeners', '', 'listeners'),
  ].join('\n')
}

function describe({ heapMb, nodes, detached }: Held): string {
  return `${heapMb} MB, ${nodes} nodes, ${detached} of them outside of the page`
}

async function streamOne(page: Page, url: string, path: string, session_id: string): Promise<void> {
  const { run_id } = await ask(url, 'paced', { input: String(secondsOfRun), session_id, background: true })
  await goTo(page, `${path}/r/${run_id}`, `document.querySelector('.run [role=row]') !== null`)
  const isOver = `document.querySelector('.run .status.completed') !== null`
  await until(page, isOver, 4 * secondsOfRun * 1_000)
  await goTo(page, path, `document.querySelector('section.run') === null`)
}

/** The newest runs of the session, each until its steps are drawn. */
async function openEach(page: Page, path: string, url: string, session_id: string): Promise<void> {
  const answer = await fetch(`${url}/api/v1/runs?session_id=${session_id}&limit=${openedRuns}`)
  const { runs } = (await answer.json()) as { runs: { run_id: string }[] }
  for (const { run_id } of runs) {
    await goTo(page, `${path}/r/${run_id}`, `document.querySelectorAll('.run [role=row]').length > 1`)
  }
  await goTo(page, path, `document.querySelector('section.run') === null`)
}

async function heldBy(debug: CDPSession): Promise<Held> {
  await debug.send('Performance.enable')
  await debug.send('DOM.enable')
  for (let time = 0; time < 3; time++) await debug.send('HeapProfiler.collectGarbage')
  const { metrics } = await debug.send('Performance.getMetrics')
  const metric = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN
  const { detachedNodes } = await debug.send('DOM.getDetachedDomNodes')
  await debug.send('DOM.disable')
  return {
    heapMb: Math.round((metric('JSHeapUsedSize') / 2 ** 20) * 10) / 10,
    nodes: metric('Nodes'),
    listeners: metric('JSEventListeners'),
    detached: detachedNodes.length,
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'

/* What a page costs while nobody sees it. */

/** Before the page: counts the calls of its timers. Frames of a hidden tab are drawn by no browser, but by this one, which has no such tab. */
export const countCalls = `(() => {
  const calls = (window.calls = { timers: 0 })
  const { setTimeout, setInterval } = window
  for (const [name, set] of Object.entries({ setTimeout, setInterval })) {
    window[name] = (run, ...more) => set((...given) => { calls.timers++; run(...given) }, ...more)
  }
})()`

export interface Work {
  timers: number
  requests: number
  scriptMs: number
}

/** What the page does in this time. */
export async function workOf(page: Page, debug: CDPSession, ms: number): Promise<Work> {
  let requests = 0
  const count = () => void requests++
  const look = async () => {
    const { metrics } = await debug.send('Performance.getMetrics')
    const scriptMs = 1000 * (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN)
    const { timers } = (await page.evaluate('({ ...window.calls })')) as Pick<Work, 'timers'>
    return { timers, scriptMs }
  }
  await debug.send('Performance.enable')
  const before = await look()
  page.on('request', count)
  await sleep(ms)
  page.off('request', count)
  const after = await look()
  return {
    requests,
    timers: after.timers - before.timers,
    scriptMs: Math.round(after.scriptMs - before.scriptMs),
  }
}

/** As when another tab is looked at: this browser has no window that could be behind one. */
export async function look(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`)
}

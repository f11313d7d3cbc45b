import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'

const longestMs = 15_000

/* What is measured inside of the page, as text: no policy of the page forbids what the debugger runs. */

/** When the frame of the list is on screen, and when its first session is: two frames after they were there. */
export const watchLoad = `(() => {
  const seen = (window.seen = {})
  const mark = (name, selector) => {
    if (seen[name] !== undefined || document.querySelector(selector) === null) return
    seen[name] = Number.NaN
    requestAnimationFrame(() => requestAnimationFrame(() => { seen[name] = performance.now() }))
  }
  new MutationObserver(() => {
    mark('shell', '.sessions')
    mark('sessions', '[aria-label=Sessions] [role=option][aria-posinset]')
  }).observe(document, { subtree: true, childList: true })
})()`

export async function loadTimes(page: Page): Promise<{ shell: number; sessions: number }> {
  await until(page, 'window.seen.shell > 0 && window.seen.sessions > 0')
  return page.evaluate('window.seen')
}

/** Asks from outside, since the page may not evaluate text. */
export async function until(page: Page, isSo: string, withinMs = longestMs): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await page.evaluate(isSo))) {
    if (performance.now() > end) throw new Error(`never: ${isSo}`)
    await sleep(50)
  }
}

export interface Scrolled {
  /** Between two frames, in ms. */
  frames: number[]
  /** How long a row in view was not there, at most, in ms. */
  blankMs: number
}

/** Scrolls a list down by 800 px a frame. */
export function scroll(page: Page, list: string, frames: number): Promise<Scrolled> {
  return page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector(${JSON.stringify(list)})
    const result = { frames: [], blankMs: 0 }
    let before, blankFrom
    const step = (now) => {
      if (before !== undefined) result.frames.push(now - before)
      before = now
      const box = list.getBoundingClientRect()
      const row = document.elementFromPoint(box.left + 40, box.top + box.height / 2)?.closest('[role=option], [role=row]')
      const isBlank = row === null || row === undefined || row.ariaDisabled === 'true'
      if (!isBlank) blankFrom = undefined
      else result.blankMs = Math.max(result.blankMs, now - (blankFrom ??= now))
      if (result.frames.length === ${frames}) return resolve(result)
      list.scrollTop += 800
      requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })`)
}

/** Goes to another address of the studio as a link does, and waits until something is there: the time that it took. */
export function goTo(page: Page, path: string, isThere: string): Promise<number> {
  return page.evaluate(`new Promise((resolve, reject) => {
    const begun = performance.now()
    history.pushState(null, '', ${JSON.stringify(path)})
    dispatchEvent(new PopStateEvent('popstate'))
    const look = () => {
      if (${isThere}) requestAnimationFrame(() => resolve(performance.now() - begun))
      else if (performance.now() > begun + ${longestMs}) reject(new Error('never: ' + ${JSON.stringify(isThere)}))
      else requestAnimationFrame(look)
    }
    look()
  })`)
}

/** From now on: when the fragments of the agent \`paced\` are on screen. */
export const watchFragments = `(() => {
  const late = (window.late = [])
  let known = 0
  const posted = new MessageChannel()
  posted.port1.onmessage = () => {
    const text = document.querySelector('[role=article]:last-of-type, article:last-of-type')?.textContent ?? ''
    const now = performance.timeOrigin + performance.now()
    const said = text.match(/\\\\d{13}\\\\.\\\\d/g) ?? []
    for (const time of said.slice(known)) late.push(now - Number(time))
    known = said.length
  }
  let isAsked = false
  new MutationObserver(() => {
    if (isAsked) return
    isAsked = true
    requestAnimationFrame(() => { isAsked = false; posted.port2.postMessage(0) })
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
  window.pressed = []
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) if (name.startsWith('key')) window.pressed.push(duration)
  }).observe({ type: 'event', durationThreshold: 16, buffered: false })
})()`.replaceAll('\\\\', '\\')

/** After everything that nobody holds has gone. */
export async function memoryOf(debug: CDPSession): Promise<{ heapMb: number; nodes: number }> {
  await debug.send('Performance.enable')
  await debug.send('HeapProfiler.collectGarbage')
  const { metrics } = await debug.send('Performance.getMetrics')
  const metric = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN
  return { heapMb: metric('JSHeapUsedSize') / 2 ** 20, nodes: metric('Nodes') }
}

import type { Page } from 'playwright-core'

/** What a person can't see or press on the page as it is now: text that is cut, what scrolls sideways or lies under something else. */
export async function outOfReach(page: Page): Promise<string[]> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  return (await page.evaluate(`(${look})()`)) as string[]
}

/** How the focus is wrong: '' when something has it that is seen, with a line around it, and nothing covers it. */
export async function focusTrouble(page: Page): Promise<string> {
  return (await page.evaluate(`(${lookAtFocus})()`)) as string
}

/** The element, and the name or text by which a person knows it. */
export async function focused(page: Page): Promise<string> {
  return (await page.evaluate(`(({ localName, ariaLabel, textContent, placeholder, name }) =>
    localName + ' ' + (ariaLabel || placeholder || name || textContent.trim().replaceAll(/\\s+/g, ' ').slice(0, 60)))(
    document.activeElement)`)) as string
}

/* In the page. */

const look = `function () {
  const found = []
  const nameOf = (one) => one.localName + '.' + one.className + ' ' + one.textContent.trim().slice(0, 40)
  const wide = document.documentElement
  if (wide.scrollWidth > innerWidth) found.push('the page scrolls sideways')
  for (const one of document.querySelectorAll('body *')) {
    if (!one.checkVisibility() || one.closest('.hidden, .skip, [aria-hidden], svg, option, select') !== null) continue
    const { overflowX, overflowY, textOverflow } = getComputedStyle(one)
    const isTooWide = one.scrollWidth > one.clientWidth + 1
    const isTooHigh = one.scrollHeight > one.clientHeight + 1
    if (one.clientWidth > 0 && /auto|scroll/.test(overflowX) && isTooWide && !one.matches('.wide, .graph, pre, textarea'))
      found.push('scrolls sideways: ' + nameOf(one))
    if (/hidden|clip/.test(overflowX) && isTooWide && textOverflow !== 'ellipsis') found.push('is cut: ' + nameOf(one))
    if (/hidden|clip/.test(overflowY) && isTooHigh) found.push('is cut below: ' + nameOf(one))
  }
  const controls = 'a[href], button, input, select, textarea, summary, [role=option], [role=row][tabindex]'
  for (const one of document.querySelectorAll(controls)) {
    if (!one.checkVisibility() || one.closest('.hidden, .skip') !== null) continue
    one.scrollIntoView({ block: 'center', inline: 'nearest' })
    const { left, right, top, bottom, width, height } = one.getBoundingClientRect()
    const from = Math.max(left, 0)
    const x = from + Math.min(width, innerWidth - from) / 2
    // A link may be broken over two lines, and a long row is pressed anywhere.
    const places = [top + height / 2, top + 6, bottom - 6].flatMap((y) => [[x, y], [left + 6, y], [right - 6, y]])
    const isHit = places.some(([x, y]) => {
      const hit = document.elementFromPoint(x, y)
      return hit !== null && (one.contains(hit) || hit.closest('label')?.contains(one) === true)
    })
    if (left < -1 || (right > innerWidth + 1 && one.closest('.wide, .graph, pre') === null))
      found.push('is beside the page: ' + nameOf(one))
    else if (!isHit) found.push('is covered: ' + nameOf(one))
  }
  return found
}`

const lookAtFocus = `function () {
  const one = document.activeElement
  if (one === null || one === document.body) return 'nothing has the focus'
  const name = one.localName + '.' + one.className + ' ' + one.textContent.trim().slice(0, 40)
  if (!one.checkVisibility({ visibilityProperty: true })) return 'is not seen: ' + name
  const { outlineStyle, outlineWidth } = getComputedStyle(one)
  if (!one.matches(':focus-visible') || outlineStyle === 'none' || parseFloat(outlineWidth) < 2) return 'has no line: ' + name
  const { left, right, top, bottom } = one.getBoundingClientRect()
  const [x1, x2] = [Math.max(left, 0), Math.min(right, innerWidth)]
  const [y1, y2] = [Math.max(top, 0), Math.min(bottom, innerHeight)]
  if (x2 - x1 < 4 || y2 - y1 < 4) return 'is outside: ' + name
  const places = [0.1, 0.5, 0.9].flatMap((x) => [0.1, 0.5, 0.9].map((y) => [x1 + x * (x2 - x1), y1 + y * (y2 - y1)]))
  const isHit = places.some(([x, y]) => {
    const hit = document.elementFromPoint(x, y)
    return hit !== null && (one.contains(hit) || hit.closest('label')?.contains(one) === true)
  })
  return isHit ? '' : 'is covered: ' + name
}`

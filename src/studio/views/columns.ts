const columns = '.shell > .sessions, .shell > .conversation, .shell > .run, .shell > .page'
const rows = '[role="option"][tabindex="0"], [role="row"][tabindex="0"]'
const controls = 'a[href], button, select, input, textarea, [tabindex="0"]'

/** Where the focus was in each column. */
const left = new WeakMap<Element, HTMLElement>()

/** Each column remembers where the focus was, until the function that this returns is called. */
export function rememberFocus(): () => void {
  const remember = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement) || target.matches('input, textarea, select')) return
    const column = target.closest(columns)
    if (column !== null) left.set(column, target)
  }
  document.addEventListener('focusin', remember)
  return () => document.removeEventListener('focusin', remember)
}

/** Moves the focus to the next column. False when that is there and can't be seen: a narrow screen shows one at a time. */
export function moveFocus(by: 1 | -1): boolean {
  const all = allColumns()
  const place = all.findIndex((column) => column.contains(document.activeElement))
  const next = place >= 0 ? all[place + by] : all.find((column) => column.checkVisibility())
  if (next === undefined) return true
  if (!next.checkVisibility()) return false
  enter(next, next.querySelector<HTMLElement>(rows))
  return true
}

/** After the page has changed: where the focus was is gone, or is of another page. */
export function arrive(): void {
  const seen = allColumns().filter((column) => column.checkVisibility())
  const main = seen.find(({ localName }) => localName === 'main')
  const heading = main?.querySelector('h2')
  if (heading) heading.tabIndex = -1
  const column = main ?? seen[0]
  if (column !== undefined) enter(column, main === undefined ? column.querySelector<HTMLElement>(rows) : heading)
}

function allColumns(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(columns)]
}

function enter(column: HTMLElement, first: HTMLElement | null | undefined): void {
  const last = left.get(column)
  const isThere = last?.isConnected === true && last.checkVisibility()
  const other = column.hasAttribute('tabindex') ? column : column.querySelector<HTMLElement>(controls)
  ;(isThere ? last : (first ?? other))?.focus()
}

/** Nothing has the focus that a person can see. */
export function isFocusLost(): boolean {
  const { activeElement } = document
  return activeElement === null || activeElement === document.body || !activeElement.checkVisibility()
}

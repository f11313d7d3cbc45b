const columns = '.shell > .sessions, .shell > .conversation, .shell > .run, .shell > .page'
const rows = '[role="option"][tabindex="0"], [role="row"][tabindex="0"]'
const headings = 'h2'
const controls = 'a[href], button, select, input, textarea, [tabindex="0"]'

/** Moves the focus between the columns, each of which remembers where it was. */
export class ColumnFocus {
  readonly #last = new WeakMap<Element, HTMLElement>()

  /** Until the function that it returns is called. */
  listen(): () => void {
    const remember = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement) || target.matches('input, textarea, select')) return
      const column = target.closest(columns)
      if (column !== null) this.#last.set(column, target)
    }
    document.addEventListener('focusin', remember)
    return () => document.removeEventListener('focusin', remember)
  }

  /** False when the next column is there and can't be seen: a narrow screen shows one at a time. */
  move(by: 1 | -1): boolean {
    const all = [...document.querySelectorAll<HTMLElement>(columns)]
    const place = all.findIndex((column) => column.contains(document.activeElement))
    const next = place >= 0 ? all[place + by] : all.find((column) => column.checkVisibility())
    if (next === undefined) return true
    if (!next.checkVisibility()) return false
    this.#enter(next, rows)
    return true
  }

  /** After the page has changed: where the focus was is gone, or is of another page. */
  arrive(): void {
    const seen = [...document.querySelectorAll<HTMLElement>(columns)].filter((column) => column.checkVisibility())
    const main = seen.find(isMain) ?? seen[0]
    if (main !== undefined) this.#enter(main, isMain(main) ? headings : rows)
  }

  #enter(column: HTMLElement, wanted: string): void {
    const last = this.#last.get(column)
    const isThere = last?.isConnected === true && last.checkVisibility()
    const first = column.querySelector<HTMLElement>(wanted)
    if (first !== null && wanted === headings) first.tabIndex = -1
    const other = column.hasAttribute('tabindex') ? column : column.querySelector<HTMLElement>(controls)
    ;(isThere ? last : (first ?? other))?.focus()
  }
}

function isMain({ localName }: Element): boolean {
  return localName === 'main'
}

/** Nothing has the focus that a person can see. */
export function isFocusLost(): boolean {
  const { activeElement } = document
  return activeElement === null || activeElement === document.body || !activeElement.checkVisibility()
}

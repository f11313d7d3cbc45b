import { signal } from '@preact/signals'
import { type Address, readAddress, writeAddress } from './address.ts'

/** Kept with an address that was reached from another one of the studio. */
const inside = 'inside'

/** Where the page is, and the ways to elsewhere in the studio, none of which loads the page again. */
export class Navigation {
  readonly address = signal<Address>({ page: 'chats', filter: {} })
  readonly #path: string
  readonly #onArrived: (address: Address) => void

  /** `path`: the studio's own. `onArrived` is also called for an address that is shown already. */
  constructor(path: string, onArrived: (address: Address) => void) {
    this.#path = path
    this.#onArrived = onArrived
    window.addEventListener('popstate', () => this.arrived())
    document.addEventListener('click', (event) => this.#clicked(event))
  }

  /** Shows another address, which Back leaves unless it takes the place of the present one. */
  go(address: Address, replace = false): void {
    const url = this.urlOf(address)
    if (replace) history.replaceState(history.state, '', url)
    else history.pushState(inside, '', url)
    this.arrived()
  }

  /** To where the page was before, if that was the studio. */
  back(): void {
    if (history.state === null) this.go({ page: 'chats', filter: {} })
    else history.back()
  }

  urlOf(address: Address): string {
    return `${this.#path}${writeAddress(address)}` || '/'
  }

  /** Reads the browser's address. */
  arrived(): void {
    this.address.value = readAddress(location.pathname.slice(this.#path.length), location.search)
    this.#onArrived(this.address.value)
  }

  #clicked(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    if (link === null || !isPlain || link.target !== '' || link.origin !== location.origin) return
    if (!`${link.pathname}/`.startsWith(`${this.#path}/`) || link.hash !== '') return
    event.preventDefault()
    history.pushState(inside, '', link.href)
    this.arrived()
  }
}

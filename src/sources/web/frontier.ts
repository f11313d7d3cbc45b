import { maxWaiting } from './seeds.ts'
import type { Site } from './site.ts'

export interface WaitingPage {
  url: URL
  /** How many links away from the start. */
  depth: number
  redirects: number
  /** Another page says that this one has its content. */
  isOriginal?: boolean
}

type LeftOut = 'robots' | 'noindex' | 'moved' | 'copies' | 'types'

const words: Record<LeftOut, string> = {
  robots: 'not allowed by robots.txt',
  noindex: 'marked noindex',
  moved: 'redirected',
  copies: 'copies of another page',
  types: 'no documents',
}

/** The pages of a site that a crawl knows of: each waits once at most. */
export class Frontier {
  readonly #site: Site
  #queue: WaitingPage[] = []
  readonly #seen = new Set<string>()
  readonly #leftOut = new Map<LeftOut, number>()
  /** Pages that will not be fetched, because there are too many. */
  beyond = 0

  constructor(site: Site) {
    this.#site = site
  }

  get size(): number {
    return this.#queue.length
  }

  add(address: string | URL, depth: number, redirects = 0): void {
    const url = this.#site.page(address)
    if (url === undefined || this.#seen.has(url.href)) return
    if (this.#queue.length >= maxWaiting) this.beyond++
    else {
      this.#seen.add(url.href)
      this.#queue.push({ url, depth, redirects })
    }
  }

  next(): WaitingPage | undefined {
    return this.#queue.shift()
  }

  /** Takes a page out of its turn; false when it had its turn. */
  claim({ href }: URL): boolean {
    const waiting = this.#queue.findIndex(({ url }) => url.href === href)
    if (waiting >= 0) this.#queue.splice(waiting, 1)
    const isNew = !this.#seen.has(href)
    this.#seen.add(href)
    return waiting >= 0 || isNew
  }

  /** Gives up on all that wait, and on one more. */
  abandon(): void {
    this.beyond += this.#queue.length + 1
    this.#queue = []
  }

  leaveOut(reason: LeftOut): void {
    this.#leftOut.set(reason, (this.#leftOut.get(reason) ?? 0) + 1)
  }

  /** Undefined when nothing was left out. */
  summary(): string | undefined {
    const parts = [...this.#leftOut].map(([reason, count]) => `${count} ${words[reason]}`)
    return parts.length === 0 ? undefined : parts.join(', ')
  }
}

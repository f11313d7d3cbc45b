import { AppError, isAppError } from '../../core/error.ts'
import type { DocumentRecord } from '../../core/knowledge/knowledge.ts'
import { type Answer, type Connections, credentialsOf, publicAddress, type Validators } from '../../runtime/download.ts'
import { checkedUrl } from '../../runtime/public-network.ts'
import { Frontier, type WaitingPage } from './frontier.ts'
import { headerFacts, readFacts } from './links.ts'
import type { PageMemory } from './memory.ts'
import { readable, typeOf } from './page.ts'
import { failedPage, type PageOutcome, type PageTarget, pageOutcome } from './page-target.ts'
import { Polite } from './polite.ts'
import { llmsTxtPages, sitemapPages } from './seeds.ts'
import { mayBeDocument, type Site, siteOf } from './site.ts'

export interface CrawlOptions {
  start: string
  /** How many links away from the start; undefined: only the pages that `sitemap` and `llmsTxt` find. */
  depth?: number | undefined
  sitemap?: boolean | undefined
  llmsTxt?: boolean | undefined
  /** At most this many pages are fetched. */
  limit: number
  delayMs: number
  /** Removes documents of the site whose pages are gone or have moved. */
  prune?: boolean | undefined
  memory: PageMemory
  connections: Connections
  signal: AbortSignal
  /** Before each page, with how many are known to come. */
  onPage?: ((done: number, waiting: number) => void) | undefined
  /** Of a sentence for a person. */
  onNote?: ((sentence: string) => void) | undefined
  /** Whether all pages were asked for, some are there and none but missing ones failed: then what was not met is gone. */
  onEnd?: ((isComplete: boolean) => void) | undefined
}

/** How many pages are fetched, unless the user says. */
export const usualLimit = 500
/** Between two requests, unless the user says. */
export const usualDelayMs = 250

const maxRedirects = 5
const maxFailures = 10
const isRedirect = new Set([301, 302, 303, 307, 308])
const isPermanent = new Set([301, 308])

type Outcomes<RESULT = void> = AsyncGenerator<PageOutcome, RESULT, void>

/**
 * Fetches the pages of one site, one after the other, and gives what became of each. A page that fails is an outcome. It ends
 * early, without removing anything more, when many requests fail in a row.
 */
export async function* crawl(target: PageTarget, options: CrawlOptions): Outcomes {
  const start = publicAddress(options.start)
  let pages = 0
  let crawl: Crawl
  try {
    checkedUrl(start, options.connections.rules)
    crawl = new Crawl(target, options, siteOf(start))
    await crawl.prepare()
  } catch (error) {
    options.signal.throwIfAborted()
    if (!isAppError(error)) throw error
    yield failedPage(start, error)
    return
  }
  for await (const outcome of crawl.pages()) {
    pages++
    yield outcome
  }
  if (pages > 0) return
  const why = crawl.leftOut === undefined ? '' : `: ${crawl.leftOut}`
  yield failedPage(start, new AppError('invalid_request', `No page of ${start} could be ingested${why}.`))
}

class Crawl {
  readonly #target: PageTarget
  readonly #options: CrawlOptions
  readonly #site: Site
  readonly #polite: Polite
  readonly #frontier: Frontier
  /** Pages that are documents now. */
  readonly #ingested = new Set<string>()
  /** Where pages have moved for good, with the documents that they were. */
  readonly #moved = new Map<string, { to: string; document: DocumentRecord | undefined }>()
  #fetched = 0
  #failures = 0
  /** Pages whose links are not known. */
  #unread = 0

  constructor(target: PageTarget, options: CrawlOptions, site: Site) {
    this.#target = target
    this.#options = options
    this.#site = site
    this.#frontier = new Frontier(site)
    const { signal, delayMs, connections } = options
    const value = credentialsOf(options.start)
    const authorization = value === undefined ? undefined : { origin: site.start.origin, value }
    this.#polite = new Polite(connections, { signal, delayMs, authorization })
  }

  /** Finds the pages to begin with. Throws when there are none. */
  async prepare(): Promise<void> {
    const { depth, sitemap, llmsTxt } = this.#options
    await this.#polite.robots(this.#site.start)
    if (depth !== undefined) this.#frontier.add(this.#site.start, 0)
    const lists = [
      ...(sitemap === true ? [sitemapPages(this.#polite, this.#site, this.#note)] : []),
      ...(llmsTxt === true ? [llmsTxtPages(this.#polite, this.#site)] : []),
    ]
    for (const pages of lists) {
      try {
        for await (const page of pages) this.#frontier.add(page, 0)
      } catch (error) {
        if (!isAppError(error) || this.#frontier.size === 0) throw error
        this.#note(error.message)
      }
    }
  }

  async *pages(): Outcomes {
    const { prune, memory } = this.#options
    yield* this.#work()
    if (prune === true && !this.#isStopped) {
      for await (const source of this.#target.sources()) this.#frontier.add(source, Number.POSITIVE_INFINITY)
      yield* this.#work()
      for (const { to, document } of this.#moved.values()) if (this.#hasArrived(to)) yield* this.#prune(document)
    }
    if (!this.#isStopped) await memory.tidy()
    this.#options.onEnd?.(!this.#isStopped && this.#unread === 0 && this.#ingested.size > 0)
    if (this.leftOut !== undefined) this.#note(`Left out: ${this.leftOut}.`)
    if (this.#failures >= maxFailures) this.#note(`Stopped after ${this.#failures} failed requests in a row.`)
    if (this.#frontier.beyond > 0) this.#note(`Not fetched: ${this.#frontier.beyond} more pages.`)
  }

  get leftOut(): string | undefined {
    return this.#frontier.summary()
  }

  get #isStopped(): boolean {
    return this.#failures >= maxFailures || this.#frontier.beyond > 0
  }

  readonly #note = (sentence: string) => this.#options.onNote?.(sentence)

  async *#work(): Outcomes {
    const { limit, onPage } = this.#options
    for (let next = this.#frontier.next(); next !== undefined; next = this.#frontier.next()) {
      if (this.#fetched >= limit || this.#failures >= maxFailures) return this.#frontier.abandon()
      onPage?.(this.#fetched, this.#frontier.size + 1)
      yield* this.#visit(next)
    }
  }

  async *#visit(waiting: WaitingPage): Outcomes {
    const { url, depth } = waiting
    const source = url.href
    const document = await this.#target.find(source)
    const known = this.#known(source, document, depth)
    let answer = await this.#get(url, known)
    if (answer === undefined) return this.#frontier.leaveOut('robots')
    if (!isAppError(answer) && answer.status === 304 && known !== undefined) {
      const remembered = this.#options.memory.get(source)
      this.#follow(remembered?.links ?? [], depth)
      if (document !== undefined) {
        this.#ingested.add(source)
        yield pageOutcome(document, 'unchanged')
        return
      }
      if (remembered?.noindex === true) return this.#frontier.leaveOut('noindex')
      if (yield* this.#isCopy(url, remembered?.canonical, depth)) return this.#frontier.leaveOut('copies')
      answer = (await this.#get(url, undefined)) ?? answer
    }
    if (isAppError(answer)) {
      this.#unread++
      yield failedPage(source, answer)
    } else if (isRedirect.has(answer.status) && answer.location !== undefined)
      yield* this.#redirect(waiting, answer.location, isPermanent.has(answer.status) ? document : undefined)
    else if ((answer.status === 404 || answer.status === 410) && document !== undefined && this.#options.prune === true)
      yield* this.#prune(document)
    else if (answer.status !== 200) {
      if (answer.status !== 404 && answer.status !== 410) this.#unread++
      yield failedPage(source, new AppError('unavailable', `${source} answered ${answer.status}.`))
    } else if (!mayBeDocument(answer.mediaType ?? '')) this.#frontier.leaveOut('types')
    else yield* this.#take(waiting, answer, document)
  }

  /** What to send so that an unchanged page is not sent again: only if all is known that it would say. */
  #known(source: string, document: DocumentRecord | undefined, depth: number): Validators | undefined {
    const remembered = this.#options.memory.get(source)
    if (document === undefined) {
      const isNone = remembered?.noindex === true || (remembered?.canonical ?? source) !== source
      return remembered !== undefined && isNone ? valid(remembered.validators) : undefined
    }
    const own = valid(this.#target.validatorsOf(document))
    if (own === undefined || !this.#hasLinks(depth)) return own
    const { etag, lastModified } = remembered?.validators ?? {}
    return etag === own.etag && lastModified === own.lastModified ? own : undefined
  }

  /** Undefined when robots.txt does not allow it. */
  async #get(url: URL, known: Validators | undefined): Promise<Answer | AppError | undefined> {
    try {
      if (!(await this.#polite.robots(url)).allows(url)) return undefined
      this.#fetched++
      const answer = await this.#polite.get(url, { known, wants: mayBeDocument })
      this.#failures = answer.status >= 500 ? this.#failures + 1 : 0
      return answer
    } catch (error) {
      this.#options.signal.throwIfAborted()
      if (!isAppError(error)) throw error
      if (error.code === 'unavailable') this.#failures++
      return error
    }
  }

  async *#redirect({ url, depth, redirects }: WaitingPage, location: URL, moved: DocumentRecord | undefined): Outcomes {
    const source = url.href
    const next = this.#site.page(location)
    if (next !== undefined && redirects >= maxRedirects)
      yield failedPage(source, new AppError('invalid_request', `${source} redirects more than ${maxRedirects} times.`))
    else if (next === undefined && source === this.#site.start.href)
      yield failedPage(
        source,
        new AppError('invalid_request', `${source} redirects to another site: ${location.origin}. Name that one.`),
      )
    else {
      this.#frontier.leaveOut('moved')
      if (next === undefined) return
      this.#moved.set(source, { to: next.href, document: moved })
      this.#frontier.add(next, depth, redirects + 1)
    }
  }

  async *#take({ url, depth, isOriginal }: WaitingPage, answer: Answer, document?: DocumentRecord): Outcomes {
    const source = url.href
    const { validators, mediaType, header } = answer
    const isHtml = /html/i.test(mediaType ?? '')
    const facts = isHtml ? await readFacts(answer.bytes, url, header) : headerFacts(url, header)
    const links = facts.links.filter((link) => this.#site.page(link) !== undefined)
    const remember = async () => {
      if (valid(validators) !== undefined) await this.#options.memory.keep(source, { ...facts, links, validators })
    }
    this.#follow(links, depth)
    const isCopy = isOriginal !== true && !facts.noindex && (yield* this.#isCopy(url, facts.canonical, depth))
    if (isCopy || facts.noindex) {
      this.#frontier.leaveOut(isCopy ? 'copies' : 'noindex')
      await remember()
      yield* this.#prune(document)
      return
    }
    const page = { source, bytes: readable(answer), mediaType: typeOf(answer), validators }
    const outcome = await this.#target.ingest(page)
    if (outcome.outcome !== 'failed') this.#ingested.add(source)
    await remember()
    yield outcome
  }

  /** Whether another page of this site has the content, as the page says: only if that one can be had. */
  async *#isCopy(url: URL, canonical: string | undefined, depth: number): Outcomes<boolean> {
    const original = canonical === undefined ? undefined : this.#site.page(canonical)
    if (original === undefined || original.href === url.href) return false
    if (this.#frontier.claim(original)) yield* this.#visit({ url: original, depth, redirects: 0, isOriginal: true })
    return this.#ingested.has(original.href)
  }

  #hasLinks(depth: number): boolean {
    return depth < (this.#options.depth ?? 0)
  }

  #follow(links: readonly string[], depth: number): void {
    if (this.#hasLinks(depth)) for (const link of links) this.#frontier.add(link, depth + 1)
  }

  #hasArrived(address: string): boolean {
    let at: string | undefined = address
    for (let hops = 0; at !== undefined && hops <= maxRedirects; hops++) {
      if (this.#ingested.has(at)) return true
      at = this.#moved.get(at)?.to
    }
    return false
  }

  async *#prune(document: DocumentRecord | undefined): Outcomes {
    if (document === undefined || this.#options.prune !== true) return
    await this.#target.remove(document)
    yield pageOutcome(document, 'pruned')
  }
}

function valid({ etag, lastModified }: Validators): Validators | undefined {
  return etag === undefined && lastModified === undefined ? undefined : { etag, lastModified }
}

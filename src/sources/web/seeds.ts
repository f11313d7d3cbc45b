import { AppError, isAppError } from '../../core/error.ts'
import type { Polite } from './polite.ts'
import type { Site } from './site.ts'
import { maxSitemapBytes, readLlmsTxt, readSitemap } from './sitemap.ts'

/** Indexes of indexes are not allowed; this is one level more than a site needs. */
const maxLevels = 3
const maxSitemaps = 200
/** Further addresses are not looked at. */
export const maxWaiting = 50_000

/**
 * The pages that the sitemaps of a site name: those of its robots.txt, else `/sitemap.xml`, or the start itself when it is
 * XML. Sitemaps of other hosts are left out. Throws when there is none.
 */
export async function* sitemapPages(polite: Polite, site: Site, note: (sentence: string) => void) {
  const { sitemaps } = await polite.robots(site.start)
  const isOne = /\.xml(?:\.gz)?$/i.test(site.start.pathname)
  const usual = sitemaps.length > 0 ? sitemaps : [new URL('/sitemap.xml', site.start).href]
  let level = isOne ? [site.start.href] : usual
  const seen = new Set<string>()
  let pages = 0
  let failure: unknown
  for (let depth = 0; depth < maxLevels && level.length > 0; depth++) {
    const next: string[] = []
    for (const address of level) {
      const url = siteAddress(site, address)
      if (url === undefined || seen.has(url.href) || seen.size >= maxSitemaps) continue
      seen.add(url.href)
      try {
        const found = await readSitemap(await bytesOf(polite, site, url, maxSitemapBytes), url.href)
        next.push(...found.sitemaps)
        for (const page of found.pages) if (pages++ < maxWaiting) yield page
      } catch (error) {
        if (!isAppError(error)) throw error
        failure = error
        note(error.message)
      }
    }
    level = next
  }
  if (pages === 0)
    throw failure ?? new AppError('invalid_request', `The sitemap of ${site.start.origin} names no pages.`)
}

/** The pages that the llms.txt of a site links to. Throws when there is none. */
export async function* llmsTxtPages(polite: Polite, site: Site) {
  const isOne = /\/llms(?:-full)?\.txt$/i.test(site.start.pathname)
  const url = isOne ? site.start : new URL('/llms.txt', site.start)
  const text = new TextDecoder().decode(await bytesOf(polite, site, url, 5_000_000))
  for (const link of readLlmsTxt(text)) {
    const page = URL.parse(link, url.href)
    if (page !== null) yield page.href
  }
}

/** As `site.page`, for what is no page: its extension may be any. */
function siteAddress(site: Site, address: string | URL, base = site.start): URL | undefined {
  const url = URL.parse(`${address}`, base.href)
  if (url === null || !site.has(url.href)) return undefined
  if (site.start.protocol === 'https:') url.protocol = 'https:'
  return url
}

async function bytesOf(polite: Polite, site: Site, start: URL, maxBytes: number): Promise<Uint8Array> {
  let url: URL | undefined = start
  for (let redirects = 0; url !== undefined && redirects <= 5; redirects++) {
    if (!(await polite.robots(url)).allows(url))
      throw new AppError('invalid_request', `The robots.txt of ${url.origin} does not allow ${url.href}.`)
    const answer = await polite.get(url, { accept: 'application/xml, text/plain, */*;q=0.5', maxBytes })
    if (answer.location === undefined) {
      if (answer.status === 200) return answer.bytes
      throw new AppError('unavailable', `${url.href} answered ${answer.status}.`)
    }
    url = siteAddress(site, answer.location)
  }
  throw new AppError('invalid_request', `${start.href} redirects to another site, or too often.`)
}

import { AppError } from '../../core/error.ts'
import { type Card, isCard, placeOf, readCard } from './card.ts'
import type { PeerHttp } from './http.ts'

const maxCardBytes = 256 * 1024
const timeoutMs = 30_000
const maxAgeMs = 10 * 60_000
const maxRedirects = 3

export interface CardPlace {
  /** Where the card is, or what it is found by. */
  address: string
  /** The address is that of the card itself. */
  isExact: boolean
  origins: readonly string[]
}

/** The card of one agent: fetched once, by all who need it, and again when it is ten minutes old or `isOutdated` is told. */
export class Cards {
  readonly #http: PeerHttp
  readonly #place: CardPlace
  #fetching: Promise<Card> | undefined
  #known: { card: Card; at: number } | undefined

  constructor(http: PeerHttp, place: CardPlace) {
    this.#http = http
    this.#place = place
  }

  /** The present card. Where an old one can't be fetched again, it is used on. */
  async get({ isOutdated = false } = {}): Promise<Card> {
    const known = this.#known
    if (known !== undefined && !isOutdated && performance.now() - known.at < maxAgeMs) return known.card
    this.#fetching ??= findCard(this.#http, this.#place).finally(() => {
      this.#fetching = undefined
    })
    try {
      const card = await this.#fetching
      this.#known = { card, at: performance.now() }
      return card
    } catch (error) {
      if (known !== undefined && !isOutdated) return known.card
      throw error
    }
  }
}

async function findCard(http: PeerHttp, place: CardPlace): Promise<Card> {
  const tried: string[] = []
  for (const { url, mustName } of candidatesOf(place)) {
    const found = await fetchCard(http, url)
    if (found === undefined) {
      tried.push(placeOf(url))
      continue
    }
    const card = readCard(found.card, found.url, place.origins)
    if (mustName === undefined || card.interfaces.some((one) => isBelow(new URL(one.url), mustName))) return card
    tried.push(placeOf(url))
  }
  throw new AppError('run_failed', `no agent card was found at ${tried.join(', ')}`)
}

interface Candidate {
  url: URL
  /** It counts only if it names this address: an origin may have many agents. */
  mustName?: URL
}

/** A base address may come with or without the slash at its end, so the well-known paths are never resolved relative to it. */
function candidatesOf({ address, isExact }: CardPlace): Candidate[] {
  const given = new URL(address)
  given.hash = ''
  if (isExact || given.pathname.endsWith('.json')) return [{ url: given }]
  const below = (name: string) => {
    const url = new URL(given)
    url.pathname = `${given.pathname.replace(/\/+$/, '')}/.well-known/${name}`
    return url
  }
  const candidates: Candidate[] = [{ url: below('agent-card.json') }]
  if (given.pathname !== '/') candidates.push({ url: given })
  candidates.push({ url: below('agent.json') })
  if (given.pathname !== '/') {
    candidates.push({ url: new URL('/.well-known/agent-card.json', given.origin), mustName: given })
  }
  return candidates
}

function isBelow(url: URL, base: URL): boolean {
  const path = base.pathname.replace(/\/*$/, '/')
  return url.origin === base.origin && `${url.pathname.replace(/\/*$/, '')}/`.startsWith(path)
}

const notThere = new Set([400, 404, 405, 406, 410])

/** Undefined where there is no card. A redirect is followed inside the origin. */
async function fetchCard(http: PeerHttp, from: URL): Promise<{ card: Record<string, unknown>; url: URL } | undefined> {
  let url = from
  for (let redirects = 0; ; redirects++) {
    const { response, text } = await http.text({ method: 'GET', url: url.href, timeoutMs, maxBytes: maxCardBytes })
    const next = URL.parse(response.headers.location ?? '', url.href)
    const isRedirect = response.status >= 300 && response.status < 400
    if (isRedirect && next?.origin === from.origin && redirects < maxRedirects) {
      url = next
      continue
    }
    if (notThere.has(response.status)) return undefined
    if (response.status !== 200) throw http.toError(response, text)
    const card = parse(text)
    return isCard(card) ? { card, url } : undefined
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

import { AppError, isAppError } from '../../core/error.ts'
import { pause } from '../../runtime/abort.ts'
import { type Answer, type AnswerOptions, type Connections, fetchAnswer } from '../../runtime/download.ts'
import { checkedUrl } from '../../runtime/public-network.ts'
import { retryAfterMs } from '../../runtime/retry-after.ts'
import { everythingAllowed, maxRobotsBytes, parseRobots, type Robots } from './robots.ts'

export interface PoliteOptions {
  /** At least this long between two requests. A longer Crawl-delay of robots.txt counts, up to a minute. */
  delayMs: number
  /** Sent to this origin only. */
  authorization?: { origin: string; value: string } | undefined
  signal: AbortSignal
}

const product = 'agentserve'
const maxDelayMs = 60_000
const maxRedirects = 5
const tries = 3

/** Makes one request at a time, asks robots.txt first, and waits when a server says that it is busy. */
export class Polite {
  readonly #connections: Connections
  readonly #options: PoliteOptions
  readonly #robots = new Map<string, Promise<Robots>>()
  #lastMs = -Infinity
  #delayMs: number

  constructor(connections: Connections, options: PoliteOptions) {
    this.#connections = connections
    this.#options = options
    this.#delayMs = options.delayMs
  }

  /** What the robots.txt of the address's origin says. Throws when the rules of the connections refuse the address. */
  robots({ origin }: URL): Promise<Robots> {
    const known = this.#robots.get(origin) ?? this.#readRobots(origin)
    this.#robots.set(origin, known)
    return known
  }

  /** Throws `unavailable` when nobody answers, and whatever the rules refuse. */
  async get(url: URL, options: Omit<AnswerOptions, 'signal' | 'authorization'> = {}): Promise<Answer> {
    const { signal, authorization } = this.#options
    const own = authorization?.origin === url.origin ? authorization.value : undefined
    for (let left = tries - 1; ; left--) {
      await pause(Math.max(0, this.#lastMs + this.#delayMs - performance.now()), signal)
      try {
        const answer = await fetchAnswer(url.href, this.#connections, { ...options, authorization: own, signal })
        const waitMs = retryAfterMs(answer.header('retry-after'))
        const isBusy = answer.status === 429 || answer.status === 503
        if (!isBusy || waitMs === undefined || waitMs > maxDelayMs || left === 0) return answer
        await pause(waitMs, signal)
      } finally {
        this.#lastMs = performance.now()
      }
    }
  }

  async #readRobots(origin: string): Promise<Robots> {
    let url = new URL('/robots.txt', origin)
    try {
      for (let redirects = 0; redirects <= maxRedirects; redirects++) {
        const answer = await this.get(url, { accept: 'text/plain, */*;q=0.5', maxBytes: maxRobotsBytes })
        if (answer.location !== undefined) url = checkedUrl(answer.location.href, this.#connections.rules)
        else if (answer.status >= 500 || answer.status === 429)
          throw new AppError('unavailable', `${url.href} answered ${answer.status}.`)
        else if (answer.status !== 200) return everythingAllowed
        else {
          const robots = parseRobots(new TextDecoder().decode(answer.bytes), product)
          this.#delayMs = Math.min(Math.max(this.#delayMs, robots.delayMs ?? 0), maxDelayMs)
          return robots
        }
      }
      return everythingAllowed
    } catch (error) {
      if (!isAppError(error) || error.code !== 'unavailable') throw error
      throw new AppError('unavailable', `Nothing of ${origin} is fetched without its robots.txt: ${error.message}`)
    }
  }
}

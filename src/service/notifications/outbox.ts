import { isAppError } from '../../core/error.ts'
import { openPoster, type Poster } from '../../runtime/post.ts'
import { Slots } from '../../runtime/slots.ts'
import type { NoticeBody } from './notice.ts'
import { isListed, type PushSettings } from './target.ts'

const requestsAtOnce = 16
/** So that a slow receiver leaves room for others. */
const requestsPerHost = 4

export type OutboxSettings = Omit<PushSettings, 'configs'>

/** `later`: it may work another time. `refused`: it would not. */
export type Sent = 'delivered' | 'later' | 'refused'

export interface Sending {
  outcome: Sent
  /** For the log; without the address. */
  reason: string
  /** Of its answer, when there was one. */
  status?: number | undefined
  /** The time that the receiver asks to wait. */
  retryAfterMs?: number | undefined
}

/** Where requests are sent to, and what authenticates them. */
export interface Receiver {
  url: string
  headers: Record<string, string>
}

/** Sends a few requests at a time, and fewer to each host. */
export class Outbox {
  readonly #settings: OutboxSettings
  readonly #slots = new Slots(requestsAtOnce)
  readonly #hosts = new Map<string, { slots: Slots; users: number }>()
  readonly #stopped = new AbortController()
  #poster: Promise<Poster> | undefined

  constructor(settings: OutboxSettings) {
    this.#settings = settings
  }

  get signal(): AbortSignal {
    return this.#stopped.signal
  }

  /** Sends them one after the other, up to the first that fails. `make` is called when it is their turn. */
  async send(receiver: Receiver, make: () => Promise<readonly NoticeBody[]>): Promise<Sending> {
    const url = new URL(receiver.url)
    if (!isListed(url, this.#settings))
      return { outcome: 'refused', reason: 'the host is not in server.a2a.push.hosts' }
    const release = await this.#take(url.host)
    try {
      for (const notice of await make()) {
        const sent = await this.#post(receiver, notice)
        if (sent.outcome !== 'delivered') return sent
      }
      return { outcome: 'delivered', reason: '' }
    } finally {
      release()
    }
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#stopped.abort()
    await (await this.#poster)?.close()
  }

  async #post(receiver: Receiver, { contentType, body, headers: own }: NoticeBody): Promise<Sending> {
    const { url } = receiver
    const headers = { ...receiver.headers, ...own, 'content-type': contentType }
    try {
      this.#stopped.signal.throwIfAborted()
      this.#poster ??= openPoster(this.#settings)
      const poster = await this.#poster
      const { status, retryAfterMs } = await poster.post({ url, headers, body, signal: this.#stopped.signal })
      return { outcome: outcomeOf(status), reason: `it answered ${status}`, status, retryAfterMs }
    } catch (error) {
      const known = isAppError(error) ? error : (error as Error).cause
      if (isAppError(known)) return { outcome: 'refused', reason: known.message }
      const { code, name } = error as NodeJS.ErrnoException
      return { outcome: 'later', reason: name === 'TimeoutError' ? 'it took too long' : (code ?? name) }
    }
  }

  async #take(host: string): Promise<() => void> {
    const known = this.#hosts.get(host) ?? { slots: new Slots(requestsPerHost), users: 0 }
    this.#hosts.set(host, known)
    known.users++
    const releases = [await known.slots.take(), await this.#slots.take()]
    return () => {
      for (const release of releases) release()
      known.users--
      if (known.users === 0) this.#hosts.delete(host)
    }
  }
}

function outcomeOf(status: number): Sent {
  if (status >= 200 && status < 300) return 'delivered'
  return status >= 500 || [408, 425, 429].includes(status) ? 'later' : 'refused'
}

import type { PageClient } from '../../../client/page.ts'
import type { RunEvent } from '../../../wire/event.ts'
import type { LiveEvent } from '../../../wire/live.ts'
import type { Wanted } from './wanted.ts'

interface Listener {
  /** What came since the last time, in order. */
  receive(events: readonly LiveEvent[]): void
  /** The stream is open: what changes from now on is received. */
  opened(): void
  /** It is not open: what the page shows is of the time when it was. */
  lost(error: unknown): void
  /** What changed before the stream was open, or while it was not, will not come. */
  missed(): void
}

/** As many as the server follows in one stream. */
const mostRuns = 200
/** Who walks through sessions opens no stream for each, nor do runs that begin together. */
const sessionWaitMs = 250
const runWaitMs = 50
const firstWaitMs = 100
const longestWaitMs = 10_000

/**
 * The one stream of a tab: what changes, and the events of the runs that are looked at. Events are handed over once a frame. It is
 * closed while the tab is hidden, since a browser has few connections for all tabs of a server.
 */
export class LiveReader {
  readonly #client: PageClient
  readonly #listener: Listener
  /** How far each wanted run has been handed over. */
  #follow = new Map<string, number>()
  #session: string | undefined
  /** By the stream that is open: up to which number it has handed over each run. */
  #handed = new Map<string, number>()
  /** Whose runs that stream hands over from their beginning. */
  #followedSession: string | undefined
  #lastEventId: string | undefined
  #reading: AbortController | undefined
  /** Until it tries again. */
  #waiting: ReturnType<typeof setTimeout> | undefined
  #openedAt = Number.NEGATIVE_INFINITY
  /** Until it follows another session. */
  #reopening: ReturnType<typeof setTimeout> | undefined
  #received: LiveEvent[] = []
  #frame: number | undefined
  #failures = 0

  constructor(client: PageClient, listener: Listener) {
    this.#client = client
    this.#listener = listener
    document.addEventListener('visibilitychange', this.#seen)
    this.#seen()
  }

  /** Reads the events of these runs too, and of those that begin in the session. */
  follow({ runs, session, turns }: Wanted): void {
    this.#follow = new Map(runs)
    this.#session = session
    if (this.#reading === undefined || this.#waiting !== undefined) return
    const isFollowed = session === undefined || session === this.#followedSession
    const comes = ([runId, after]: [string, number]) => {
      const handed = this.#handed.get(runId)
      return handed === undefined ? isFollowed && turns.has(runId) : handed <= after
    }
    if (![...runs].every(comes)) this.#reopen(runWaitMs)
    else if (!isFollowed) this.#reopen(sessionWaitMs)
  }

  /** So long after the last time, or at once. */
  #reopen(afterMs: number): void {
    const rest = this.#openedAt + afterMs - performance.now()
    clearTimeout(this.#reopening)
    if (rest <= 0) this.#open()
    else this.#reopening = setTimeout(() => this.#open(), rest)
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.#seen)
    this.#close()
    cancelAnimationFrame(this.#frame ?? 0)
  }

  readonly #seen = () => {
    if (document.visibilityState === 'hidden') this.#close()
    else if (this.#reading === undefined) this.#open()
  }

  #close(): void {
    clearTimeout(this.#waiting)
    clearTimeout(this.#reopening)
    this.#waiting = undefined
    this.#reading?.abort()
    this.#reading = undefined
  }

  #open(): void {
    this.#close()
    const reading = new AbortController()
    this.#reading = reading
    this.#openedAt = performance.now()
    this.#handed = new Map(this.#follow)
    this.#followedSession = this.#session
    this.#read(reading.signal).then(
      () => this.#again(reading, undefined),
      (error: unknown) => this.#again(reading, error),
    )
  }

  /** It was cut, or never open: tries once more, after a while. */
  #again(reading: AbortController, error: unknown): void {
    if (this.#reading !== reading) return
    this.#listener.lost(error)
    const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** this.#failures++)
    this.#waiting = setTimeout(() => this.#open(), wait)
  }

  async #read(signal: AbortSignal): Promise<void> {
    const isFirst = this.#lastEventId === undefined
    const events = this.#client.live({
      signal,
      follow: Object.fromEntries([...this.#follow].slice(0, mostRuns)),
      followSessions: this.#session === undefined ? [] : [this.#session],
      children: true,
      lastEventId: this.#lastEventId,
    })
    for await (const { event, id } of events) {
      if (signal.aborted) return
      this.#failures = 0
      // Of events that come together the last one has it.
      this.#lastEventId = id || this.#lastEventId
      if (event.type === 'hello') this.#listener.opened()
      if (event.type === 'reset' || (event.type === 'hello' && isFirst)) this.#listener.missed()
      this.#received.push(event)
      this.#frame ??= requestAnimationFrame(this.#flush)
    }
  }

  readonly #flush = () => {
    this.#frame = undefined
    const events = this.#received
    this.#received = []
    this.#listener.receive(events)
    for (const event of events) {
      if (event.type !== 'run_event') continue
      const { run_id, seq } = event.event
      if ((this.#handed.get(run_id) ?? 0) < seq) this.#handed.set(run_id, seq)
      const known = this.#follow.get(run_id)
      if (known !== undefined && known < seq) this.#follow.set(run_id, seq)
      if (isOver(event.event)) this.#handed.delete(run_id)
    }
  }
}

/** Nothing of it can come any more. */
function isOver(event: RunEvent): boolean {
  return event.type === 'run_end' && (event.status === 'completed' || event.status === 'cancelled')
}

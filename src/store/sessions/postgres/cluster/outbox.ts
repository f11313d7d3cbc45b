import type { Logger } from '../../../../core/logger.ts'
import type { Sql } from '../../../postgres/connection.ts'
import type { SteadyConnection } from '../../../postgres/steady-connection.ts'
import { encodeLine, type Line, toPayloads } from './lines.ts'

/** Each time costs the receiver a read, however many runs have something new. One run alone records about as often. */
const gatherMs = 25
const retryMs = 500
/** To one instance at once. */
const maxPayloads = 4
const maxLines = 2_000

const missed = encodeLine({ kind: 'missed' })

// A notification is a hint: its commit need not reach the disk, and must not wait for it.
const notify = `SELECT pg_notify(channel, payload), set_config('synchronous_commit', 'off', true)
  FROM unnest($1::text[], $2::text[]) AS notice(channel, payload)`

/**
 * Gathers lines for other instances for up to 25 ms and sends them together. What can't be sent becomes one line that says
 * that something was missed.
 */
export class Outbox {
  readonly #connection: Pick<SteadyConnection, 'use'>
  readonly #channelOf: (key: number) => string
  readonly #logger: Logger
  /** The own key; 0: closed. */
  #from = 0
  #sentMs = 0
  #waiting = new Map<number, Set<string>>()
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined

  constructor(connection: Pick<SteadyConnection, 'use'>, channelOf: (key: number) => string, logger: Logger) {
    this.#connection = connection
    this.#channelOf = channelOf
    this.#logger = logger
  }

  /** From now on lines are sent, in the name of this instance. */
  open(key: number): void {
    this.#from = key
  }

  put(to: number, line: Line): void {
    if (this.#from === 0) return
    const lines = this.#waiting.get(to) ?? new Set<string>()
    this.#waiting.set(to, lines)
    if (lines.size >= maxLines) {
      lines.clear()
      lines.add(missed)
    }
    const text = encodeLine(line)
    // At the end: one that was put before may have been taken back since.
    lines.delete(text)
    lines.add(text)
    this.#sendSoon(Math.max(0, this.#sentMs + gatherMs - performance.now()))
  }

  /** Sends what has been put so far. */
  async flush(): Promise<void> {
    await this.#sending
    this.#clear()
    await this.#send()
  }

  /** Drops what was not sent. */
  async close(): Promise<void> {
    this.#from = 0
    this.#waiting.clear()
    this.#clear()
    await this.#sending
  }

  #sendSoon(ms: number): void {
    if (this.#timer !== undefined || this.#sending !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#send()
    }, ms).unref()
  }

  #clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #send(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve()
    const sent = this.#waiting
    this.#waiting = new Map()
    this.#sentMs = performance.now()
    const send = () => this.#connection.use((sql) => this.#notify(sql, sent))
    // A hint may come twice, and a connection may have broken unseen since the last one.
    this.#sending = send()
      .catch(send)
      .then(
        () => gatherMs,
        (error: unknown) => {
          this.#logger.debug({ error }, 'other servers could not be notified')
          for (const to of sent.keys()) this.#waiting.set(to, new Set([missed, ...(this.#waiting.get(to) ?? [])]))
          return retryMs
        },
      )
      .then((pauseMs) => {
        this.#sending = undefined
        if (this.#from === 0) this.#waiting.clear()
        else if (this.#waiting.size > 0) this.#sendSoon(pauseMs)
      })
    return this.#sending
  }

  async #notify(sql: Sql, sent: ReadonlyMap<number, ReadonlySet<string>>): Promise<void> {
    const channels: string[] = []
    const payloads: string[] = []
    for (const [to, lines] of sent) {
      for (const payload of toPayloads(this.#from, lines, maxPayloads) ?? [`${this.#from}\n${missed}`]) {
        channels.push(this.#channelOf(to))
        payloads.push(payload)
      }
    }
    await sql.all(notify, [channels, payloads])
  }
}

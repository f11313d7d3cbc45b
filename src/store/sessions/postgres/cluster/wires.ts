import { createHash } from 'node:crypto'
import type { Wake } from '../../../../core/cluster/cluster.ts'
import { Listener } from '../../../postgres/listener.ts'
import { SteadyConnection } from '../../../postgres/steady-connection.ts'
import type { Commits, Database } from '../database.ts'
import { Followers } from './followers.ts'
import { Follows } from './follows.ts'
import { readCancels, readPeers } from './instances.ts'
import { type Line, type Received, readPayload } from './lines.ts'
import { Outbox } from './outbox.ts'
import { Watches } from './watches.ts'

const firstEchoMs = 1_000
const manyUnheard = 3
const neverHeard =
  'notifications of the database do not arrive, so this server looks several times a second; if the address leads to a pooler, set listenUrl to one that does not'
const notifyLimits = { statementMs: 2_000, answerMs: 3_000 }

/** What this instance and the others tell each other. Everything here is a hint. */
export class Wires implements Commits {
  readonly #database: Database
  readonly #outbox: Outbox
  readonly #connection: SteadyConnection
  readonly #followers: Followers
  readonly #follows: Follows
  readonly watches: Watches
  #listener: Listener | undefined
  #wake: (wake: Wake) => void = () => {}
  #own = 0
  #peers: ReadonlySet<number> = new Set()
  /** Echoes are counted, so that one of an earlier connection is not taken for one of this. */
  #sent = 0
  /** The last one that came back, or that was sent before the connection listened. */
  #echoed = 0
  #hasHeard = false
  #firstEcho: (() => void) | undefined
  /** Echoes that did not come back, since the last one that did. */
  #unheard = 0

  constructor(database: Database) {
    this.#database = database
    this.#connection = new SteadyConnection(() => database.pools, 'notify', notifyLimits)
    this.#outbox = new Outbox(this.#connection, (key) => this.#channelOf(key), database.logger)
    this.#followers = new Followers(
      (instance, run_id) => this.#outbox.put(instance, { kind: 'events', run_id }),
      (kind, run_id) => this.wake({ kind, run_id }),
    )
    const ask = (owner: number, run_ids: string[]) => {
      if (this.#own !== 0) this.#outbox.put(owner, { kind: 'follow', run_ids })
    }
    this.#follows = new Follows(database, ask, (wake) => this.wake(wake))
    this.watches = new Watches(
      (instance, line) => this.#outbox.put(instance, line),
      () => this.#peers,
      () => this.#lookForPeers(),
    )
  }

  onWake(listener: (wake: Wake) => void): void {
    this.#wake = listener
  }

  wake(wake: Wake): void {
    try {
      this.#wake(wake)
    } catch (error) {
      this.#database.logger.error({ error }, 'a wake-up failed')
    }
  }

  /** Listens under this key from now on, if an address leads past a pooler. Waits until it hears itself, for a second at most. */
  async open(key: number): Promise<void> {
    await this.#listener?.close()
    this.#own = key
    this.#outbox.open(key)
    this.#followers.clear()
    const { connections, listenUrl } = this.#database.pools.options
    if (connections === 'pooled' && listenUrl === undefined) {
      // A pooler passes no notification on, and would be asked for ever.
      this.#setDeaf(true)
      return
    }
    const echoed = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, firstEchoMs)
      this.#firstEcho = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#listener = new Listener(this.#database.pools, this.#channelOf(key), {
      heard: (payload) => {
        for (const received of readPayload(payload)) this.#heard(received)
      },
      listens: () => {
        this.#echoed = this.#sent
        this.#hasHeard = false
        this.#sendEcho()
      },
      isDeaf: () => this.#setDeaf(true),
    })
    this.#listener.start()
    await echoed
    this.#firstEcho = undefined
  }

  /** With those that have neither left nor died; says hello to them. */
  meet(peers: readonly number[]): void {
    this.#peers = new Set(peers)
    for (const peer of peers) this.#outbox.put(peer, { kind: 'hello' })
    this.watches.restart()
    this.#follows.lookNow()
  }

  /** Call it with each beat. A connection that has not heard the last echo is opened again. */
  check(peers: readonly number[]): void {
    this.#peers = new Set(peers)
    if (this.#sent > this.#echoed) {
      if (++this.#unheard === manyUnheard) this.#database.logger.warn({}, neverHeard)
      this.#setDeaf(true)
      this.#listener?.reconnect()
    } else if (this.#sent > 0) this.#sendEcho()
  }

  tell(instance: number, line: Line): void {
    if (instance === this.#own) this.#heard({ from: instance, line })
    else this.#outbox.put(instance, line)
  }

  recorded(runId: string): void {
    if (this.#followers.size > 0) this.#followers.recorded(runId)
  }

  freed(runId: string, owner: number): void {
    this.tell(owner, { kind: 'turn', run_id: runId })
  }

  follow(runId: string): void {
    this.#follows.add(runId)
  }

  unfollow(runId: string): void {
    this.#follows.delete(runId)
  }

  /** Sends what was told. */
  flush(): Promise<void> {
    return this.#outbox.flush()
  }

  async close(): Promise<void> {
    this.#firstEcho?.()
    this.#followers.clear()
    this.watches.close()
    this.#own = 0
    this.#peers = new Set()
    await Promise.all([this.#follows.close(), this.#outbox.close(), this.#listener?.close()])
    this.#listener = undefined
    await this.#connection.close()
  }

  /** Notifications are the database's, whose schemas know nothing of each other. */
  #channelOf(key: number): string {
    const place = createHash('sha256').update(this.#database.pools.options.schema).digest('hex').slice(0, 12)
    return `agentserve_${place}_${key}`
  }

  async #lookForPeers(): Promise<void> {
    try {
      const peers = await readPeers(this.#database.read, this.#own)
      this.#peers = new Set(peers.map(({ key }) => key))
    } catch (error) {
      this.#database.logger.debug({ error }, 'other servers could not be looked for')
    }
  }

  async #lookForCancels(): Promise<void> {
    try {
      const cancels = await readCancels(this.#database.read, this.#own)
      for (const cancel of cancels) this.wake({ kind: 'cancel', ...cancel })
    } catch (error) {
      // The next beat looks for them too.
      this.#database.logger.debug({ error }, 'runs to cancel could not be looked for')
    }
  }

  #sendEcho(): void {
    this.#sent++
    this.#outbox.put(this.#own, { kind: 'echo', count: this.#sent })
  }

  #setDeaf(isDeaf: boolean): void {
    this.#follows.isDeaf = isDeaf
    this.watches.isDeaf = isDeaf
  }

  #heard({ from, line }: Received): void {
    switch (line.kind) {
      case 'events':
        this.#follows.heard(line.run_id)
        this.wake(line)
        break
      case 'turn':
        this.wake(line)
        break
      case 'cancel':
        void this.#lookForCancels()
        break
      case 'left':
        this.wake({ kind: 'left', key: from })
        break
      case 'missed':
        this.wake({ kind: 'missed' })
        this.watches.missed()
        break
      case 'follow':
        this.#followers.add(from, line.run_ids)
        break
      case 'echo':
        this.#hearsItself(line.count)
        break
      default:
        if (line.kind === 'hello') this.#peers = new Set([...this.#peers, from])
        this.watches.heard(from, line)
    }
  }

  #hearsItself(count: number): void {
    if (count <= this.#echoed || count > this.#sent) return
    this.#echoed = count
    this.#unheard = 0
    if (this.#hasHeard) return
    this.#hasHeard = true
    this.#setDeaf(false)
    this.wake({ kind: 'missed' })
    this.#firstEcho?.()
  }
}

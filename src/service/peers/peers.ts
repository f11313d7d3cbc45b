import type { Beat, Instance, Peer, StoreCluster, Wake } from '../../core/cluster/cluster.ts'
import { AppError, isAppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { Logger } from '../../core/logger.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Clock, Timers } from '../../core/time.ts'
import type { RunPeers } from '../runs/run-services.ts'
import { Lease, type Monotonic } from './lease.ts'
import { Pulse } from './pulse.ts'
import { RemoteRuns } from './remote-runs.ts'
import { Takeover, type TakeoverOptions } from './takeover.ts'
import { PeerWatch } from './watch.ts'

const lastWorkMs = 3_000
const longestBeatMs = 3_000
const beatsPerLife = 5
/** The part of its time that an instance waits for a beat. The rest is for a process that stands still in between. */
const heldFrom = 0.6

/** What the other instances have this one do with its runs. */
export interface PeerRuns {
  adopt: TakeoverOptions['adopt']
  /** Ends a run of this process; false when it has none of this id. */
  cancelHere(runId: string, reason: string): boolean
  /** The turn of one waiting run may have come, without an id that of all. */
  takeTurn(runId?: string): void
  /** Lets go of all runs: they are another instance's now. */
  abandon(): void
  /** Shows what was held back. */
  release(): void
  /** How long events of a run may wait for others before they are recorded; undefined: as usual. */
  flushWithin(runId: string, ms: number | undefined): void
  /** The events of a live run. */
  eventsHere(runId: string, after: number): AsyncIterable<readonly RunEvent[]> | undefined
}

export interface PeersOptions {
  cluster: StoreCluster
  store: SessionStore
  logger: Logger
  clock: Clock
  now: Monotonic
  timers: Timers
  /** Silence after which the others take this instance for dead. */
  deadAfterMs: number
  /** How long events of a run that another instance reads may wait before they are recorded. */
  flushMs: number
  /** Of the first membership. */
  owner: string
  self: () => Omit<Instance, 'owner' | 'deadAfterMs'>
  /** An instance is gone, and its runs have been taken over: other work that it has left is free. */
  onGone?: (() => void) | undefined
}

export interface PeersState {
  /** `held`: the store has confirmed no beat for too long, so nothing leaves. `out`: it is no instance of the store. */
  lease: 'fresh' | 'held' | 'out'
  /** Since the last confirmed beat. */
  ageMs: number | undefined
  /** Other instances, as of the last beat. */
  peers: readonly Peer[]
  /** Runs elsewhere that are followed. */
  tails: number
  wakes: number
  takenOver: number
  /** As of the last beat; see `Beat`. */
  oldestTransactionSeconds: number | undefined
}

/**
 * This process as one of several instances on a store: it beats, watches the beats of the others, takes over the runs of dead
 * ones, and holds still when it can't know whether it is taken for dead itself.
 */
export class Peers implements RunPeers {
  readonly #options: PeersOptions
  readonly #holdAfterMs: number
  readonly #lease: Lease
  readonly #watch: PeerWatch
  readonly #takeover: Takeover
  readonly #remote: RemoteRuns
  readonly #pulse: Pulse
  #runs: PeerRuns | undefined
  #owner: string
  #peers: readonly Peer[] = []
  #oldestTransactionSeconds: number | undefined
  #wakes = 0
  #serves = false
  #closed = false
  #troubled = false

  constructor(options: PeersOptions) {
    const { cluster, store, timers, clock, logger, now, deadAfterMs, owner, onGone = () => {} } = options
    this.#options = options
    this.#owner = owner
    this.#holdAfterMs = deadAfterMs * heldFrom
    this.#lease = new Lease(now, this.#holdAfterMs)
    this.#watch = new PeerWatch(now)
    this.#takeover = new Takeover({
      cluster,
      clock,
      now,
      logger,
      may: () => this.#serves && !this.#closed && !this.isHeld,
      adopt: (queued) => this.#runs?.adopt(queued),
      onDone: onGone,
    })
    const here: PeerRuns['eventsHere'] = (runId, after) => this.#runs?.eventsHere(runId, after)
    this.#remote = new RemoteRuns({ cluster, store, timers, here })
    const failed = (error: unknown) => this.#failed(error)
    const everyMs = Math.min(longestBeatMs, deadAfterMs / beatsPerLife)
    this.#pulse = new Pulse({ timers, now, everyMs }, (sentMs) => this.#step(sentMs), failed)
  }

  get owner(): string {
    return this.#owner
  }

  get isHeld(): boolean {
    return this.#lease.isHeld
  }

  get state(): PeersState {
    const ageMs = this.#lease.ageMs
    const lease = ageMs === undefined ? 'out' : this.isHeld ? 'held' : 'fresh'
    return {
      lease,
      ageMs,
      peers: this.#peers,
      tails: this.#remote.size,
      wakes: this.#wakes,
      takenOver: this.#takeover.count,
      oldestTransactionSeconds: this.#oldestTransactionSeconds,
    }
  }

  released(): Promise<void> {
    return this.#lease.released()
  }

  events: RunPeers['events'] = (run, after, signal) => this.#remote.events(run, after, signal)
  ended: RunPeers['ended'] = (runId) => this.#remote.ended(runId)
  cancel: RunPeers['cancel'] = (runId, reason, withinMs) => this.#remote.cancel(runId, reason, withinMs)

  allKnow: RunPeers['allKnow'] = (step) => this.#peers.every(({ knows }) => knows >= step)

  async ask(runId: string, reason: string): Promise<void> {
    await this.#options.cluster.requestCancel(runId, reason)
  }

  endTails(failure: AppError): void {
    this.#remote.close(failure)
  }

  /** Call it once the store is open. Throws what the store throws. */
  async join(runs: PeerRuns): Promise<void> {
    this.#runs = runs
    this.#options.cluster.onWake((wake) => this.#take(wake))
    await this.#join()
    this.#pulse.start()
  }

  /** From now on it takes over runs of others. A guest does not. */
  serve(): void {
    if (this.#options.self().role === 'server') this.#serves = true
  }

  /** The last write of this instance: what it still has may be taken over at once. */
  async close(): Promise<void> {
    this.#closed = true
    this.#remote.close(new AppError('unavailable', 'The server is shutting down.'))
    await this.#within(Promise.all([this.#pulse.stop(), this.#takeover.idle()]))
    this.#options.cluster.onWake(() => {})
    try {
      if (this.#lease.ageMs !== undefined) await this.#options.cluster.leave()
    } finally {
      this.#lease.lose()
      this.#lease.close()
    }
  }

  /** What goes on may wait for a store that is away. */
  async #within(work: Promise<unknown>): Promise<void> {
    const { timers } = this.#options
    const late = Promise.withResolvers<void>()
    const timer = timers.set(late.resolve, lastWorkMs)
    await Promise.race([work, late.promise])
    timers.clear(timer)
  }

  async #join(): Promise<void> {
    const { cluster, self, logger, now, deadAfterMs } = this.#options
    const sentMs = now()
    const instance = self()
    this.#peers = await cluster.join({ ...instance, owner: this.#owner, deadAfterMs })
    this.#watch.restart()
    this.#watch.see(this.#peers)
    this.#lease.confirm(sentMs)
    if (instance.role === 'server') warnOfOthers(instance.entities, this.#peers, logger)
  }

  async #step(sentMs: number): Promise<void> {
    if (this.#lease.ageMs === undefined) await this.#joinAgain()
    else await this.#beat(sentMs)
    this.#troubled = false
  }

  async #joinAgain(): Promise<void> {
    try {
      await this.#join()
    } catch (error) {
      // An earlier attempt was stored without an answer, and the silent instance then taken for dead.
      if (isAppError(error) && error.code === 'conflict') this.#owner = createId('own', this.#options.clock())
      throw error
    }
  }

  #failed(error: unknown): void {
    this.#watch.restart()
    const { logger } = this.#options
    if (!this.#troubled) logger.warn({ error }, 'the store does not confirm that this instance is alive')
    this.#troubled = true
  }

  async #beat(sentMs: number): Promise<void> {
    const { cluster, logger } = this.#options
    const beat = await cluster.beat()
    const ageMs = this.#lease.ageMs ?? 0
    if (this.#closed) return
    if (beat.lost) return this.#lose()
    // It may have stood still, and the others with it.
    if (ageMs >= this.#holdAfterMs) this.#watch.restart()
    if (this.#lease.confirm(sentMs)) {
      logger.warn({ ms: Math.round(ageMs) }, 'the store confirms again that this instance is alive')
      this.#runs?.release()
    }
    for (const { run_id: runId, reason } of beat.cancels) this.#runs?.cancelHere(runId, reason)
    await this.#see(beat)
  }

  async #see({ peers, orphaned, oldestTransactionSeconds }: Beat): Promise<void> {
    const { cluster, logger } = this.#options
    this.#peers = peers
    this.#oldestTransactionSeconds = oldestTransactionSeconds
    const silent = this.#watch.see(peers)
    if (!this.#serves) return
    for (const { key, beat, owner, address } of silent) {
      if (!(await cluster.declareDead(key, beat))) continue
      this.#peers = this.#peers.filter((peer) => peer.key !== key)
      logger.warn({ instance: owner, address }, 'an instance has been silent for too long; its runs are taken over')
      this.#takeover.begin(key)
    }
    this.#takeover.look(orphaned)
  }

  /** Another instance took this one for dead: nothing that it writes as this owner can succeed. */
  async #lose(): Promise<void> {
    const { logger, clock } = this.#options
    this.#lease.lose()
    logger.error({ owner: this.#owner }, 'another instance took this one for dead and has its runs now; joining again')
    this.#runs?.abandon()
    if (this.#closed) return
    this.#owner = createId('own', clock())
    await this.#join()
    this.#runs?.release()
  }

  #take(wake: Wake): void {
    if (this.#closed) return
    this.#wakes++
    if (wake.kind === 'events') this.#remote.wake(wake.run_id)
    else if (wake.kind === 'followed') this.#runs?.flushWithin(wake.run_id, this.#options.flushMs)
    else if (wake.kind === 'unfollowed') this.#runs?.flushWithin(wake.run_id, undefined)
    else if (wake.kind === 'turn') this.#runs?.takeTurn(wake.run_id)
    else if (wake.kind === 'cancel') this.#runs?.cancelHere(wake.run_id, wake.reason)
    else if (wake.kind === 'left') this.#takeover.begin(wake.key)
    else {
      this.#remote.wakeAll()
      this.#runs?.takeTurn()
    }
  }
}

/** Behind one address, all instances must have the same agents. */
function warnOfOthers(own: readonly string[], peers: readonly Peer[], logger: Logger): void {
  for (const { owner, address, entities } of peers) {
    const onlyHere = own.filter((id) => !entities.includes(id))
    const onlyThere = entities.filter((id) => !own.includes(id))
    if (onlyHere.length + onlyThere.length === 0) continue
    const message = 'another instance on this store has other agents; give all instances the same config'
    logger.warn({ instance: owner, address, only_here: onlyHere, only_there: onlyThere }, message)
  }
}

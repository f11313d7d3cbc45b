import { usualLimits } from '../../src/config/settings/limits.ts'
import { type ClusterTimes, usualClusterTimes } from '../../src/config/settings/postgres.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Runnable } from '../../src/core/runnable.ts'
import type { SessionStore } from '../../src/core/store.ts'
import { Peers } from '../../src/service/peers/peers.ts'
import { createRegistry } from '../../src/service/registry.ts'
import { createRuns, type RunService } from '../../src/service/runs/runs.ts'
import type { Sessions } from '../../src/service/services.ts'
import { createSessions } from '../../src/service/sessions/sessions.ts'
import { type ManualTimers, manualTimers } from './manual-timers.ts'
import { type MemoryMember, memoryCluster } from './memory-cluster.ts'
import { turns } from './turns.ts'

/** One server of several, without its routes. */
export interface TestInstance extends Pick<MemoryMember, 'cut' | 'heal' | 'deafen' | 'hear'> {
  name: string
  store: SessionStore
  runs: RunService
  sessions: Sessions
  peers: Peers
  timers: ManualTimers
  /** Its timers stand still, as those of a process that was stopped. */
  isStopped: boolean
  /** The messages of warnings and errors. */
  told: string[]
  close(): Promise<void>
}

export interface InstanceOptions {
  entities: Record<string, Runnable>
  role?: 'server' | 'guest'
  /** In place of the store of the cluster. */
  store?: (store: SessionStore) => SessionStore
  onGone?: () => void
  times?: Partial<ClusterTimes>
}

const stepMs = 50
/** A step of the cluster is some turns of the event loop. */
const turnsOfStep = 12

/** Servers on one store in memory, whose time passes only when a test says so. */
export class TestInstances {
  readonly all: TestInstance[] = []
  readonly #cluster = memoryCluster()
  /** How far the timers of each are. */
  readonly #passedMs = new Map<ManualTimers, number>()
  #nowMs = 0

  async add({
    entities,
    role = 'server',
    store: wrap = (store) => store,
    onGone,
    times,
  }: InstanceOptions): Promise<TestInstance> {
    const { store: plain, ...connection } = this.#cluster.add()
    const store = wrap(plain)
    const name = String.fromCharCode(97 + this.all.length)
    const timers = manualTimers()
    this.#passedMs.set(timers, this.#nowMs)
    const told: string[] = []
    const tell = (_: unknown, text?: string) => void told.push(String(text))
    const logger = { ...silentLogger, warn: tell, error: tell }
    const registry = createRegistry()
    for (const [id, entity] of Object.entries(entities)) registry.register(id, entity)
    await store.open()
    const { cluster } = store
    if (cluster === undefined) throw new Error('the store has no cluster')
    const peers = new Peers({
      cluster,
      store,
      logger,
      clock: Date.now,
      now: () => this.#nowMs,
      timers,
      ...usualClusterTimes(),
      ...times,
      owner: `own_${name}`,
      onGone,
      self: () => ({ address: null, version: '1', entities: registry.ids(), role }),
    })
    const bounds = usualLimits()
    const base = { store, registry, logger, clock: Date.now, timers, requestTimeoutMs: 600_000, bounds }
    const runs = createRuns({ ...base, owner: `own_${name}`, peers })
    await peers.join(runs)
    peers.serve()
    const instance: TestInstance = {
      ...connection,
      name,
      store,
      runs,
      sessions: createSessions(store, runs, Date.now, bounds),
      peers,
      timers,
      isStopped: false,
      told,
      async close() {
        await runs.shutdown(0)
        await peers.close()
        await store.close()
      },
    }
    this.all.push(instance)
    return instance
  }

  /** Two servers with the same entities. */
  async pair(entities: Record<string, Runnable>): Promise<[TestInstance, TestInstance]> {
    return [await this.add({ entities }), await this.add({ entities })]
  }

  /** Lets so much time pass for all that are not stopped. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      const step = Math.min(stepMs, left)
      this.#nowMs += step
      for (const instance of this.all) this.#catchUp(instance)
      await turns(turnsOfStep)
    }
  }

  /** Lets time pass until this resolves. */
  async until<T>(promise: Promise<T>, withinMs = 60_000): Promise<T> {
    let settled = false
    promise.then(
      () => (settled = true),
      () => (settled = true),
    )
    await turns(turnsOfStep)
    for (let passed = 0; !settled && passed < withinMs; passed += stepMs) await this.advance(stepMs)
    if (!settled) throw new Error(`not within ${withinMs} ms`)
    return promise
  }

  /** All timers that were due while it stood still are late. */
  #catchUp({ timers, isStopped }: TestInstance): void {
    const passedMs = this.#passedMs.get(timers) ?? 0
    if (isStopped) return
    this.#passedMs.set(timers, this.#nowMs)
    timers.advance(this.#nowMs - passedMs)
  }

  get nowMs(): number {
    return this.#nowMs
  }

  async close(): Promise<void> {
    for (const instance of this.all) {
      instance.isStopped = false
      instance.heal()
    }
    for (const instance of this.all) await this.until(instance.close().catch(() => {}))
  }
}

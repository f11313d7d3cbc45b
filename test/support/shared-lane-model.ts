import { expect } from 'vitest'
import { isAppError } from '../../src/core/error.ts'
import type { RunRecord } from '../../src/core/run.ts'
import type { RunInput } from '../../src/core/runnable.ts'
import type { SessionStore } from '../../src/core/store.ts'
import type { MultitaskStrategy, RunHandle } from '../../src/service/services.ts'
import { type TestInstance, TestInstances } from './instances.ts'
import { collect, request, runnable } from './services.ts'
import { turns } from './turns.ts'

const sessionId = 'shared'

export type SharedStep = { at: number; afterMs: number } & (
  | { kind: 'start'; strategy: MultitaskStrategy; turns: number; pure: boolean }
  | { kind: 'cancel'; which: number }
  /** Wake-ups do not arrive any more, or arrive again. */
  | { kind: 'deafen' | 'hear' }
  /** A wake-up that nobody sent. */
  | { kind: 'wake' }
  /** The process goes, and another comes in its place. */
  | { kind: 'leave' | 'stop' }
)

interface Started {
  handle: RunHandle
  by: TestInstance
  /** Undefined while it goes on; null: its end is not known here. */
  ended: Promise<RunRecord | null>
}

/** What the runs of one session must do, whichever instance they are on and whatever gets lost between the instances. */
export class SharedLaneModel {
  readonly #world = new TestInstances()
  readonly #latencies: readonly number[]
  #writes = 0
  #instances: TestInstance[] = []
  readonly #started: Started[] = []
  readonly #starting: Promise<void>[] = []
  readonly #cancelled = new Set<string>()
  /** Runs in the order in which the store let them begin, and those that it has running now. */
  readonly #begun: string[] = []
  readonly #running = new Set<string>()
  readonly #gone: Promise<unknown>[] = []
  #superseding = false
  #disturbed = false

  /** How many turns of the event loop each write takes, over and over. */
  constructor(latencies: readonly number[]) {
    this.#latencies = latencies
  }

  async play(count: number, steps: readonly SharedStep[]): Promise<void> {
    for (let index = 0; index < count; index++) this.#instances.push(await this.#add())
    for (const step of steps) {
      await this.#world.advance(step.afterMs)
      await this.#do(step)
    }
    await this.#settle()
    await this.#world.close()
  }

  #add(): Promise<TestInstance> {
    const says = async function* ({ text }: RunInput) {
      const [name = '', count = '0'] = text.split(' ')
      yield `${name}:`
      for (let turn = 0; turn < Number(count); turn++) {
        await turns(1)
        yield '.'
      }
    }
    const entities = { any: runnable(says), none: runnable(says, { sideEffects: false }) }
    return this.#world.add({ entities, store: (store) => this.#traced(this.#slow(store)) })
  }

  async #do(step: SharedStep): Promise<void> {
    const place = step.at % this.#instances.length
    const instance = this.#instances[place] as TestInstance
    if (step.kind === 'start') this.#starting.push(this.#start(instance, step))
    else if (step.kind === 'cancel') this.#cancel(instance, step.which)
    else if (step.kind === 'deafen') instance.deafen()
    else if (step.kind === 'hear') instance.hear(true)
    else if (step.kind === 'wake') instance.runs.takeTurn()
    else {
      this.#disturbed = true
      if (step.kind === 'leave') this.#gone.push(instance.close())
      else instance.isStopped = true
      this.#instances[place] = await this.#add()
    }
  }

  async #start(by: TestInstance, { strategy, turns, pure }: Extract<SharedStep, { kind: 'start' }>): Promise<void> {
    if (strategy === 'interrupt') this.#superseding = true
    const text = `${this.#started.length + this.#starting.length} ${turns}`
    const options = { sessionId, strategy, mode: 'background' } as const
    try {
      const handle = await by.runs.start(request(pure ? 'none' : 'any', text, options))
      this.#started.push({ handle, by, ended: handle.result().catch(() => null) })
    } catch (error) {
      if (!isAppError(error)) throw error
      const allowed = strategy === 'reject' ? ['conflict'] : []
      if (this.#disturbed) allowed.push('unavailable')
      expect(allowed).toContain(error.code)
    }
  }

  #cancel(by: TestInstance, which: number): void {
    const runId = this.#started[which % Math.max(1, this.#started.length)]?.handle.runId
    if (runId === undefined) return
    this.#cancelled.add(runId)
    this.#gone.push(
      by.runs.cancel(runId, 'requested').catch((error: unknown) => {
        expect(isAppError(error) && ['conflict', ...(this.#disturbed ? ['unavailable'] : [])]).toContain(
          (error as { code: string }).code,
        )
      }),
    )
  }

  async #settle(): Promise<void> {
    for (const instance of this.#world.all) instance.hear(true)
    await this.#world.advance(this.#disturbed ? 40_000 : 10_000)
    for (const instance of this.#world.all) instance.isStopped = false
    await this.#world.advance(5_000)
    await this.#world.until(Promise.all([...this.#starting, ...this.#gone]))
    const [reader] = this.#instances as [TestInstance]
    const { runs } = await reader.store.readHistory(sessionId, 1_000)
    const byId = new Map(runs.map((run) => [run.run_id, run]))
    for (const { handle, ended } of this.#started) {
      const run = byId.get(handle.runId)
      this.#checkEnd(run)
      const own = await this.#world.until(ended)
      if (own === null) expect(this.#disturbed).toBe(true)
      else expect([own.status, own.cancellation_reason]).toEqual([run?.status, run?.cancellation_reason])
      for (const other of this.#instances) {
        const events = await this.#world.until(collect(await other.runs.events(handle.runId, 0)))
        expect(events.at(-1)?.seq).toBe(run?.end_seq)
      }
    }
    expect(this.#running.size).toBe(0)
    const stored = runs.map((run) => run.run_id).filter((runId) => this.#begun.includes(runId))
    expect(this.#begun).toEqual(stored)
    if (!this.#disturbed) expect(runs.length).toBe(this.#started.length)
    for (const instance of this.#instances) expect(instance.runs.active).toBe(0)
  }

  #checkEnd(run: RunRecord | undefined): void {
    if (run === undefined) throw new Error('an accepted run is not in the store')
    const allowed: (string | null)[] = ['completed']
    if (this.#cancelled.has(run.run_id)) allowed.push('requested')
    if (this.#superseding) allowed.push('superseded')
    if (this.#disturbed) allowed.push('interrupted', 'shutdown')
    const how = run.cancellation_reason ?? run.status
    expect(allowed).toContain(how)
    if (how !== 'completed') return
    const [input, output] = run.messages.map(({ content }) => content)
    const [name = '', count = '0'] = (input ?? '').split(' ')
    expect(output).toBe(`${name}:${'.'.repeat(Number(count))}`)
  }

  /** The writes of one run keep their order, and nothing else does. */
  #slow(inner: SessionStore): SessionStore {
    const last = new Map<string, Promise<unknown>>()
    const write = <T>(runId: string, work: () => Promise<T>): Promise<T> => {
      const latency = this.#latencies[this.#writes++ % this.#latencies.length] ?? 0
      const written = (last.get(runId) ?? turns(0)).then(() => turns(latency)).then(work)
      last.set(
        runId,
        written.catch(() => {}),
      )
      return written
    }
    return {
      ...inner,
      startRun: (start) => write(start.run.run_id, () => inner.startRun(start)),
      beginRun: (...run) => write(run[0], () => inner.beginRun(...run)),
      appendEvents: (batch) => write(batch.run_id, () => inner.appendEvents(batch)),
      finishRun: (end) => write(end.run_id, () => inner.finishRun(end)),
    }
  }

  /** Holds at each write that no two runs are running. */
  #traced(inner: SessionStore): SessionStore {
    const enter = async (runId: string) => {
      // What another instance took over has ended by its death.
      for (const other of this.#running) {
        if ((await inner.findRun(other))?.status !== 'running') this.#running.delete(other)
      }
      expect([...this.#running], 'two at once').toEqual([])
      this.#running.add(runId)
      this.#begun.push(runId)
    }
    return {
      ...inner,
      startRun: async (start) => {
        const started = await inner.startRun(start)
        if (started.outcome === 'started') await enter(start.run.run_id)
        return started
      },
      beginRun: async (...run) => {
        const begun = await inner.beginRun(...run)
        if (begun === 'begun') await enter(run[0])
        return begun
      },
      finishRun: async (end) => {
        const finished = await inner.finishRun(end)
        this.#running.delete(end.run_id)
        return finished
      },
    }
  }
}

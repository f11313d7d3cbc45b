import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { RunEvent } from '../../core/event.ts'
import { type Cost, type Pause, type Step, sumCost } from '../../core/steps/step.ts'
import type { Run } from '../../wire/run.ts'
import { RunEvents } from './run/events.ts'
import { messageOf } from './server/message-of.ts'

/** A step where it stands among all that are shown, or a line about the steps of a run that are not there. */
export interface Row {
  key: string
  runId: string
  events: RunEvents
  step: Step | undefined
  /** Instead of a step. */
  note: string
  depth: number
  /** How long after the outermost run its own began, in ms. */
  offsetMs: number
  /** Undefined when there is nothing inside. */
  isOpen: boolean | undefined
}

/** Of a run that is shown as it was at a moment. */
export interface Moment {
  /** Since the run began. */
  ms: ReadonlySignal<number>
  /** Of the whole run, which stay while the moment moves. */
  spanMs: number
  pauses: readonly Pause[]
}

interface KnownRun {
  events: RunEvents
  /** As it was last told. */
  head: Run | undefined
  reading: Promise<void> | undefined
  error: string
}

const atOnce = 100

/** A run and the runs inside its steps, at any depth, as rows of one waterfall. A run inside is read when its step is unfolded. */
export class RunTree {
  readonly runId: string
  readonly root: RunEvents
  /** Grows when what is drawn has changed, in any of the runs. */
  readonly shape = signal(0)
  /** Why a run inside can't be shown. */
  readonly error = signal('')
  readonly rows = computed(() => this.#rows())
  readonly moment: Moment | undefined
  readonly #client: PageClient
  readonly #signal: AbortSignal
  /** By id: the outermost run and those inside that are known. */
  readonly #runs = new Map<string, KnownRun>()
  /** The keys of rows that are not as they are at first: steps of a run are unfolded, runs inside are not. */
  readonly #turned = new Set<string>()
  readonly #isLive: () => boolean

  /** `isLive`: what happens in the run comes by itself. */
  constructor(
    client: PageClient,
    runId: string,
    root: RunEvents,
    stop: AbortSignal,
    isLive: () => boolean,
    moment?: Moment,
  ) {
    this.moment = moment
    this.#client = client
    this.runId = runId
    this.root = root
    this.#signal = stop
    this.#isLive = isLive
    this.#of(runId, root)
  }

  /** With events that were read anew, and the same steps unfolded. */
  withRoot(root: RunEvents, moment = this.moment, client = this.#client): RunTree {
    const tree = new RunTree(client, this.runId, root, this.#signal, this.#isLive, moment)
    for (const key of this.#turned) tree.#turned.add(key)
    return tree
  }

  changed(): void {
    this.shape.value++
  }

  eventsOf(runId: string): RunEvents | undefined {
    return this.#runs.get(runId)?.events
  }

  /** Of a run that is followed. One inside may be known later by its step than by its events. */
  received(event: RunEvent): void {
    const { events } = this.#of(event.run_id)
    if (events.receive(event)) this.changed()
  }

  runChanged(run: Run): void {
    const parent = run.parent_run_id
    // All that changes on the server is told of.
    if (parent === null || !this.#runs.has(parent)) return
    this.#of(run.run_id).head = run
    this.changed()
  }

  #of(runId: string, events = new RunEvents()): KnownRun {
    const known = this.#runs.get(runId) ?? { events, head: undefined, reading: undefined, error: '' }
    this.#runs.set(runId, known)
    return known
  }

  /** Reads what the runs inside used, which their steps don't say. */
  async readHeads(runId: string): Promise<void> {
    let cursor: string | undefined
    do {
      const options = { signal: this.#signal, limit: atOnce, cursor }
      const page = await this.#client.runs.list({ parent_run_id: runId, again: true }, options)
      for (const run of page.runs) this.#of(run.run_id).head = run
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    this.changed()
  }

  isOpen(runId: string, { seq, childRunId, below }: Step): boolean | undefined {
    if (childRunId === undefined && below.length === 0) return undefined
    return this.#turned.has(`${runId}:${seq}`) === (childRunId !== undefined)
  }

  /** Unfolds what is folded, and the other way round. */
  turn(runId: string, step: Step): void {
    const isOpen = this.isOpen(runId, step)
    if (isOpen === undefined) return
    const key = `${runId}:${step.seq}`
    if (!this.#turned.delete(key)) this.#turned.add(key)
    if (!isOpen && step.childRunId !== undefined) void this.read(step.childRunId)
    this.changed()
  }

  /** The events of a run inside, unless they come by themselves, and what the runs inside it used. */
  read(runId: string): Promise<void> {
    const inside = this.#of(runId)
    inside.reading ??= this.#read(runId, inside).finally(() => {
      inside.reading = undefined
      this.changed()
    })
    return inside.reading
  }

  async #read(runId: string, inside: KnownRun): Promise<void> {
    inside.error = ''
    try {
      const { events } = inside
      const options = { signal: this.#signal, after: events.seq }
      if (!events.isOver && !this.#isLive())
        for await (const event of await this.#client.runs.events(runId, options)) events.add(event as RunEvent)
      const isKnown = (child: string | undefined) => child === undefined || this.#runs.get(child)?.head?.completed_at
      if (!events.steps.every(({ childRunId }) => isKnown(childRunId))) await this.readHeads(runId)
    } catch (error) {
      if (!this.#signal.aborted) inside.error = messageOf(error)
    }
  }

  /** Nothing comes by itself any more: what is unfolded and not whole is read. */
  async readOpen(): Promise<void> {
    const read = new Set<string>()
    for (;;) {
      // What was read may have more inside.
      const rows = this.rows.peek().flatMap(({ step, isOpen }) => (isOpen && step?.childRunId ? [step.childRunId] : []))
      const open = rows.filter((runId) => !read.has(runId))
      if (open.length === 0) return
      for (const runId of open) read.add(runId)
      await Promise.all(open.map((runId) => this.read(runId)))
    }
  }

  /** Unfolds what is around a run inside. */
  async reveal(runId: string): Promise<void> {
    const path: string[] = []
    try {
      for (let at: string | null = runId; at !== this.runId; ) {
        path.unshift(at)
        const run: { parent_run_id: string | null } = await this.#client.runs.get(at, { signal: this.#signal })
        at = run.parent_run_id
        if (at === null) return
      }
    } catch (error) {
      if (!this.#signal.aborted) this.error.value = messageOf(error)
      return
    }
    let outer = this.runId
    for (const inner of path) {
      let step = this.eventsOf(outer)?.steps.find(({ childRunId }) => childRunId === inner)
      for (; step !== undefined; step = step.parent) if (this.isOpen(outer, step) === false) this.turn(outer, step)
      await this.read(inner)
      outer = inner
    }
  }

  /** What a step used, with all that is inside. */
  usageOf(step: Step): Step['usage'] {
    if (step.kind === 'run') return undefined
    if (step.usage !== undefined) return step.usage
    if (step.childRunId === undefined) return step.usageInside
    const inside = this.#runs.get(step.childRunId)
    return inside?.events.usage ?? inside?.head?.usage
  }

  /** Null when a part is not known; undefined when nothing in it can have a price. */
  costOf(step: Step): Cost | null | undefined {
    if (step.kind === 'run') return undefined
    if (step.childRunId !== undefined) return this.#runs.get(step.childRunId)?.head?.cost ?? null
    if (step.below.length === 0) return step.cost
    const costs = step.below.map((one) => this.costOf(one)).filter((cost) => cost !== undefined)
    return costs.length === 0 ? undefined : sumCost(costs)
  }

  #rows(): readonly Row[] {
    this.shape.value
    const rows: Row[] = []
    const { root } = this.root
    if (root !== undefined) this.#add(rows, { runId: this.runId, events: this.root, depth: 0, offsetMs: 0 }, root)
    return rows
  }

  #add(rows: Row[], where: Pick<Row, 'runId' | 'events' | 'depth' | 'offsetMs'>, step: Step): void {
    const { runId, depth } = where
    const isOpen = this.isOpen(runId, step)
    rows.push({ ...where, key: `${runId}:${step.seq}`, step, note: '', isOpen })
    if (isOpen !== true) return
    for (const one of step.below) this.#add(rows, { ...where, depth: depth + 1 }, one)
    if (step.childRunId !== undefined) this.#addRun(rows, step.childRunId, depth + 1)
  }

  #addRun(rows: Row[], runId: string, depth: number): void {
    const { events, error } = this.#of(runId)
    const { root, began = 0 } = events
    const where = { runId, events, depth, offsetMs: Math.max(0, began - (this.root.began ?? began)) }
    // The step around it says how it ended.
    const steps = (root?.below ?? []).filter(({ kind, state }) => kind !== 'end' || state !== 'done')
    for (const one of steps) this.#add(rows, where, one)
    if (steps.length > 0 && error === '') return
    const note = error !== '' ? error : events.isOver ? 'No steps inside.' : 'Reading…'
    rows.push({ ...where, key: `${runId}:note`, step: undefined, note, isOpen: undefined })
  }
}

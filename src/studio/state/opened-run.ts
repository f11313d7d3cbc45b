import { type Signal, signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { Run, RunDetail } from '../../wire/run.ts'
import { isUnderWay } from './conversation.ts'
import { messageOf } from './message-of.ts'
import { RunEvents } from './run/events.ts'
import { RunTree } from './run-tree.ts'

/** A run that is looked at step by step: a turn, or the run of a member inside one. */
export class OpenedRun {
  readonly runId: string
  readonly run = signal<RunDetail | undefined>(undefined)
  readonly error = signal('')
  /** There is no such run, or not any more, or not for this key. */
  readonly isMissing = signal(false)
  readonly #client: PageClient
  readonly #onFollow: () => void
  readonly #reading = new AbortController()
  readonly #tree: Signal<RunTree>
  /** Came before the run was read. */
  #changed: Run | undefined

  /** `onFollow`: whether it has to be followed (`followed`) has changed. */
  constructor(client: PageClient, runId: string, onFollow: () => void) {
    this.#client = client
    this.runId = runId
    this.#onFollow = onFollow
    const isLive = () => this.followed !== undefined
    this.#tree = signal(new RunTree(client, runId, new RunEvents(), this.#reading.signal, isLive))
    this.#open().catch((error: unknown) => this.#failed(error))
  }

  /** Another object when the events were read anew, as are its events. */
  get tree(): RunTree {
    return this.#tree.value
  }

  get events(): RunEvents {
    return this.tree.root
  }

  /** What came meanwhile is lost. Of a run that ended, a server that was killed may have lost events that the page has. */
  readAgain(): void {
    this.#open(new RunEvents()).catch((error: unknown) => this.#failed(error))
  }

  close(): void {
    this.#reading.abort()
  }

  /** The number of the last event that is known, for a run that is under way. */
  get followed(): number | undefined {
    const run = this.run.value
    return run !== undefined && isUnderWay(run) ? this.events.seq : undefined
  }

  /** `anew`: takes the place of the events that are known, if the run is not under way. */
  async #open(anew?: RunEvents): Promise<void> {
    const { signal } = this.#reading
    this.#changed = undefined
    const read = await this.#client.runs.get(this.runId, { signal })
    // The answer may be older than what the live stream said since it was asked for.
    const run = isUnderWay(read) && this.#changed !== undefined ? { ...read, ...(this.#changed as Run) } : read
    this.run.value = run
    this.error.value = ''
    this.isMissing.value = false
    if (isUnderWay(run)) {
      this.#onFollow()
      await this.tree.readHeads(this.runId)
    } else await this.#readEvents(anew)
  }

  async #readEvents(anew?: RunEvents): Promise<void> {
    const { signal } = this.#reading
    const events = anew ?? this.events
    for await (const event of await this.#client.runs.events(this.runId, { signal, after: events.seq })) {
      events.add(event as RunEvent)
    }
    if (anew !== undefined) {
      this.#tree.value = this.tree.withRoot(anew)
      // It may have been resumed while it was read.
      this.#onFollow()
    }
    const { tree } = this
    tree.changed()
    if (!tree.root.steps.steps.some(({ childRunId }) => childRunId !== undefined)) return
    await tree.readHeads(this.runId)
    await tree.readOpen()
  }

  received(event: RunEvent): void {
    if (event.run_id !== this.runId) this.tree.received(event)
    else if (this.events.follows(event) && this.events.add(event) && this.events.isDrawnAnew) this.tree.changed()
  }

  runChanged(run: Run): void {
    if (run.run_id !== this.runId) {
      this.tree.runChanged(run)
      return
    }
    this.#changed = run
    const present = this.run.value
    if (present === undefined) return
    const wasUnderWay = isUnderWay(present)
    this.run.value = { ...present, ...run }
    if (wasUnderWay !== isUnderWay(run)) this.#onFollow()
    // What came between the last event and the end.
    if (!isUnderWay(run)) this.#readEvents().catch((error: unknown) => this.#failed(error))
  }

  #failed(error: unknown): void {
    if (this.#reading.signal.aborted) return
    this.isMissing.value = error instanceof Error && 'status' in error && error.status === 404
    this.error.value = messageOf(error)
  }
}

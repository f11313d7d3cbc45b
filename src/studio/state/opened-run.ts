import { signal } from '@preact/signals'
import type { Client } from '../../client/client.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { Run, RunDetail } from '../../wire/run.ts'
import { isUnderWay } from './conversation.ts'
import { RunEvents } from './events.ts'
import { messageOf } from './message-of.ts'

/** A run that is looked at step by step: a turn, or the run of a member inside one. `changes` grows when an event comes. */
export class OpenedRun {
  readonly runId: string
  readonly run = signal<RunDetail | undefined>(undefined)
  readonly error = signal('')
  readonly changes = signal(0)
  readonly events = new RunEvents()
  readonly #client: Client
  readonly #onFollow: () => void
  readonly #reading = new AbortController()

  /** `onFollow`: whether it has to be followed (`followed`) has changed. */
  constructor(client: Client, runId: string, onFollow: () => void) {
    this.#client = client
    this.runId = runId
    this.#onFollow = onFollow
    this.#open().catch((error: unknown) => this.#failed(error))
  }

  close(): void {
    this.#reading.abort()
  }

  /** The number of the last event that is known, for a run that is under way. */
  get followed(): number | undefined {
    const run = this.run.value
    return run !== undefined && isUnderWay(run) ? this.events.seq : undefined
  }

  async #open(): Promise<void> {
    const { signal } = this.#reading
    const run = await this.#client.runs.get(this.runId, { signal })
    this.run.value = run
    if (isUnderWay(run)) this.#onFollow()
    else await this.#readEvents()
  }

  async #readEvents(): Promise<void> {
    const { signal } = this.#reading
    const after = this.events.seq
    for await (const event of await this.#client.runs.events(this.runId, { signal, after })) {
      this.events.add(event as RunEvent)
    }
    this.changes.value++
  }

  received(event: RunEvent): void {
    if (event.run_id === this.runId && this.events.add(event)) this.changes.value++
  }

  runChanged(run: Run): void {
    const present = this.run.value
    if (run.run_id !== this.runId || present === undefined) return
    const wasUnderWay = isUnderWay(present)
    this.run.value = { ...present, ...run }
    if (wasUnderWay !== isUnderWay(run)) this.#onFollow()
    // What came between the last event and the end.
    if (!isUnderWay(run)) this.#readEvents().catch((error: unknown) => this.#failed(error))
  }

  #failed(error: unknown): void {
    if (this.#reading.signal.aborted) return
    this.error.value = messageOf(error)
  }
}

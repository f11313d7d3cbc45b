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
  /** Another object when they were read anew. */
  events = new RunEvents()
  readonly #client: Client
  readonly #onFollow: () => void
  readonly #reading = new AbortController()
  /** Came before the run was read. */
  #changed: Run | undefined

  /** `onFollow`: whether it has to be followed (`followed`) has changed. */
  constructor(client: Client, runId: string, onFollow: () => void) {
    this.#client = client
    this.runId = runId
    this.#onFollow = onFollow
    this.#open().catch((error: unknown) => this.#failed(error))
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

  async #open(events = this.events): Promise<void> {
    const { signal } = this.#reading
    this.#changed = undefined
    const read = await this.#client.runs.get(this.runId, { signal })
    // The answer may be older than what the live stream said since it was asked for.
    const run = isUnderWay(read) && this.#changed !== undefined ? { ...read, ...(this.#changed as Run) } : read
    this.run.value = run
    this.error.value = ''
    if (isUnderWay(run)) this.#onFollow()
    else await this.#readEvents(events)
  }

  async #readEvents(events: RunEvents): Promise<void> {
    const { signal } = this.#reading
    for await (const event of await this.#client.runs.events(this.runId, { signal, after: events.seq })) {
      events.add(event as RunEvent)
    }
    this.events = events
    this.changes.value++
  }

  received(event: RunEvent): void {
    if (event.run_id === this.runId && this.events.follows(event) && this.events.add(event)) this.changes.value++
  }

  runChanged(run: Run): void {
    if (run.run_id !== this.runId) return
    this.#changed = run
    const present = this.run.value
    if (present === undefined) return
    const wasUnderWay = isUnderWay(present)
    this.run.value = { ...present, ...run }
    if (wasUnderWay !== isUnderWay(run)) this.#onFollow()
    // What came between the last event and the end.
    if (!isUnderWay(run)) this.#readEvents(this.events).catch((error: unknown) => this.#failed(error))
  }

  #failed(error: unknown): void {
    if (this.#reading.signal.aborted) return
    this.error.value = messageOf(error)
  }
}

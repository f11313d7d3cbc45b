import { type Signal, signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { Run, RunDetail } from '../../wire/run.ts'
import { isUnderWay } from './conversation.ts'
import type { Replayed } from './replayed.ts'
import { RunEvents } from './run/events.ts'
import { RunTree } from './run-tree.ts'
import { hasStatus, messageOf } from './server/message-of.ts'

/** A run that is looked at step by step: a turn, or the run of a member inside one. */
export class OpenedRun {
  readonly runId: string
  readonly run = signal<RunDetail | undefined>(undefined)
  readonly error = signal('')
  /** There is no such run, or not any more, or not for this key. */
  readonly isMissing = signal(false)
  /** What is shown is as it was at a moment. */
  readonly replay = signal<Replayed | undefined>(undefined)
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

  /** All that is known of it. Another object when the events were read anew, as are its events. */
  get whole(): RunTree {
    return this.#tree.value
  }

  /** What is shown of it. */
  get tree(): RunTree {
    return this.replay.value?.tree ?? this.whole
  }

  /** As it is shown. */
  get shown(): RunDetail | undefined {
    const run = this.run.value
    return run === undefined ? undefined : (this.replay.value?.runThen(run) ?? run)
  }

  /** Shows all of it again. */
  endReplay(): void {
    this.replay.peek()?.pause()
    this.replay.value = undefined
  }

  get events(): RunEvents {
    return this.tree.root
  }

  /** What came meanwhile is lost. Of a run that ended, a server that was killed may have lost events that the page has. */
  readAgain(): void {
    this.#open(new RunEvents()).catch((error: unknown) => this.#failed(error))
  }

  get isClosed(): boolean {
    return this.#reading.signal.aborted
  }

  close(): void {
    this.endReplay()
    this.#reading.abort()
  }

  /** The number of the last event that is known, for a run that is under way. */
  get followed(): number | undefined {
    const run = this.run.value
    return run !== undefined && isUnderWay(run) ? this.whole.root.seq : undefined
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
      await this.whole.readHeads(this.runId)
    } else await this.#readEvents(anew)
  }

  async #readEvents(anew?: RunEvents): Promise<void> {
    const { signal } = this.#reading
    const events = anew ?? this.whole.root
    // Nothing follows its end, and a stream without one would be taken for one that was cut.
    if (!isFinal(events)) {
      for await (const event of await this.#client.runs.events(this.runId, { signal, after: events.seq })) {
        events.add(event as RunEvent)
      }
    }
    if (anew !== undefined) {
      this.#tree.value = this.whole.withRoot(anew)
      // It may have been resumed while it was read.
      this.#onFollow()
    }
    const { whole: tree } = this
    tree.changed()
    if (!tree.root.steps.some(({ childRunId }) => childRunId !== undefined)) return
    await tree.readHeads(this.runId)
    await tree.readOpen()
  }

  received(event: RunEvent): void {
    this.whole.received(event)
  }

  runChanged(run: Run): void {
    if (run.run_id !== this.runId) {
      this.whole.runChanged(run)
      return
    }
    this.#changed = run
    const present = this.run.value
    if (present === undefined) return
    const wasUnderWay = isUnderWay(present)
    this.run.value = { ...present, ...run }
    if (isUnderWay(run)) this.endReplay()
    if (wasUnderWay !== isUnderWay(run)) this.#onFollow()
    // What came between the last event and the end.
    if (!isUnderWay(run)) this.#readEvents().catch((error: unknown) => this.#failed(error))
  }

  #failed(error: unknown): void {
    if (this.#reading.signal.aborted) return
    this.isMissing.value = hasStatus(error, 404)
    this.error.value = messageOf(error)
  }
}

/** It has said that it ended, and can't be resumed. */
function isFinal({ status = 'running' }: RunEvents): boolean {
  return ['completed', 'failed', 'cancelled'].includes(status)
}

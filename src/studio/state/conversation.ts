import { signal } from '@preact/signals'
import type { Client } from '../../client/client.ts'
import type { Message } from '../../core/message.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { Run } from '../../wire/run.ts'
import { RunEvents } from './events.ts'
import { messageOf } from './message-of.ts'

/** A turn as the page shows it. */
export interface Turn {
  run: Run
  messages: readonly Message[]
  /** Of a run that works, or has worked since the session was opened. */
  events: RunEvents | undefined
}

const turnsAtOnce = 50

/** One session: its latest turns, and the events of those that are looked at. `changes` grows when an event comes. */
export class Conversation {
  readonly sessionId: string
  readonly turns = signal<readonly Turn[]>([])
  readonly state = signal<'loading' | 'ready' | 'failed' | 'deleted'>('loading')
  readonly error = signal('')
  readonly hasMore = signal(false)
  readonly changes = signal(0)
  readonly #client: Client
  readonly #onFollow: () => void
  #closed = false
  #readings = 0

  /** `onFollow`: other runs are to be followed (`followed`). */
  constructor(client: Client, sessionId: string, onFollow: () => void) {
    this.#client = client
    this.sessionId = sessionId
    this.#onFollow = onFollow
    this.read()
  }

  close(): void {
    this.#closed = true
  }

  /** The runs that are under way, with the number of the last event that is known. */
  get followed(): [runId: string, seq: number][] {
    return this.turns.value.flatMap(({ run, events }) =>
      isUnderWay(run) ? [[run.run_id, events?.seq ?? 0] as [string, number]] : [],
    )
  }

  read(): void {
    const reading = ++this.#readings
    this.#client.sessions.history(this.sessionId, { interactions: turnsAtOnce }).then(
      ({ runs, messages, has_more }) => {
        // A later answer has what this one has, and more.
        if (this.#closed || reading !== this.#readings) return
        this.turns.value = this.#turnsOf(runs, messages)
        this.hasMore.value = has_more
        this.state.value = 'ready'
        this.#onFollow()
      },
      (error: unknown) => this.#failed(error),
    )
  }

  /** Earlier turns. */
  more(): void {
    const before = this.turns.value[0]?.run.run_id
    if (before === undefined || !this.hasMore.value) return
    this.hasMore.value = false
    this.#client.sessions.history(this.sessionId, { interactions: turnsAtOnce, before }).then(
      ({ runs, messages, has_more }) => {
        if (this.#closed) return
        this.turns.value = [...this.#turnsOf(runs, messages), ...this.turns.value]
        this.hasMore.value = has_more
      },
      (error: unknown) => this.#failed(error),
    )
  }

  #turnsOf(runs: readonly Run[], messages: readonly Message[]): Turn[] {
    const known = new Map(this.turns.value.map((turn) => [turn.run.run_id, turn.events]))
    const ofRun = Map.groupBy(messages, ({ run_id }) => run_id)
    return runs.map((run) => ({ run, messages: ofRun.get(run.run_id) ?? [], events: known.get(run.run_id) }))
  }

  #failed(error: unknown): void {
    if (this.#closed) return
    this.state.value = 'failed'
    this.error.value = messageOf(error)
  }

  /** The run has changed: begun, paused, ended, or is new here. */
  runChanged(run: Run): void {
    if (run.session_id !== this.sessionId || run.parent_run_id !== null || run.again_of?.keep === 'no') return
    const turns = this.turns.value
    const place = turns.findIndex((turn) => turn.run.run_id === run.run_id)
    const present = turns[place]
    if (present === undefined) {
      // Its messages are in the history.
      this.read()
      return
    }
    const { status, completed_at } = present.run
    this.turns.value = turns.with(place, { ...present, run })
    if (isUnderWay(present.run) !== isUnderWay(run)) this.#onFollow()
    // It may have paused, gone on and ended since the last time: its messages are in the history.
    const hasMoved = status !== run.status || completed_at !== run.completed_at
    if (hasMoved && !isUnderWay(run)) this.read()
  }

  /** False when no run of this session has them. */
  received(event: RunEvent): boolean {
    const turns = this.turns.value
    const place = turns.findIndex(({ run }) => run.run_id === event.run_id)
    const turn = turns[place]
    if (turn === undefined) return false
    const events = turn.events ?? new RunEvents()
    if (!events.follows(event)) return true
    if (turn.events === undefined) this.turns.value = turns.with(place, { ...turn, events })
    if (events.add(event)) this.changes.value++
    return true
  }

  /** Resolves when the run is accepted. */
  async send(agentId: string, text: string): Promise<void> {
    await this.#client.agents.background(agentId, { input: text, session_id: this.sessionId })
  }
}

export function isUnderWay({ status }: Pick<Run, 'status'>): boolean {
  return status === 'queued' || status === 'running'
}

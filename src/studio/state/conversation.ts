import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { Message } from '../../core/message.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { Run, RunRequest } from '../../wire/run.ts'
import { Latest } from './reading/latest.ts'
import { LiveSteps } from './run/events.ts'
import { hasStatus, messageOf } from './server/message-of.ts'

/** A turn as the page shows it. */
export interface Turn {
  run: Run
  messages: readonly Message[]
  /** What its events tell: of a run that works, or that was looked at. */
  answer: LiveSteps | undefined
}

/** What people call a session; without a name, what it began with. */
export interface Named {
  name: string | null
  title: string | null
}

const turnsAtOnce = 50

/** One session: its turns from the latest on, as far as they were asked for, and what the events of their runs tell. */
export class Conversation {
  readonly sessionId: string
  readonly turns = signal<readonly Turn[]>([])
  readonly state = signal<'loading' | 'ready' | 'failed' | 'missing' | 'deleted'>('loading')
  readonly error = signal('')
  readonly hasMore = signal(false)
  readonly named = signal<Named | undefined>(undefined)
  /** Runs whose last moments may be missing from the record. */
  readonly truncated = signal<ReadonlySet<string>>(new Set())
  /** By the run: what a person is told of what happened to their answer. */
  readonly notes = signal<ReadonlyMap<string, string>>(new Map())
  readonly #client: PageClient
  readonly #onFollow: () => void
  readonly #closing = new AbortController()
  /** Ended or paused runs whose events are read, or have been. */
  readonly #looked = new Set<string>()
  readonly #reading = new Latest()

  /** `onFollow`: other runs are to be followed (`followed`). */
  constructor(client: PageClient, sessionId: string, onFollow: () => void) {
    this.#client = client
    this.sessionId = sessionId
    this.#onFollow = onFollow
    this.read()
  }

  close(): void {
    this.#closing.abort()
    this.#reading.stop()
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** What is being read is of the time before. */
  wasDeleted(): void {
    this.#reading.stop()
    this.state.value = 'deleted'
  }

  /** The runs that are under way, with the number of the last event that is known. */
  get followed(): [runId: string, seq: number][] {
    return this.turns.value.flatMap(({ run, answer }) =>
      isUnderWay(run) ? [[run.run_id, answer?.seq ?? 0] as [string, number]] : [],
    )
  }

  read(): void {
    if (this.state.value === 'failed') this.state.value = 'loading'
    this.#reading.read(
      (signal) => this.#client.sessions.history(this.sessionId, { interactions: turnsAtOnce, signal }),
      ({ runs, messages, has_more }) => {
        const latest = this.#turnsOf(runs, messages)
        const known = this.turns.value
        const place = has_more ? known.findIndex(({ run }) => run.run_id === latest[0]?.run.run_id) : 0
        const begun = known.filter(({ run }) => isUnderWay(run) && isAfter(run, latest))
        // Those that another run replaced are in no history.
        const earlier = known.slice(0, Math.max(0, place)).filter(({ run }) => run.replaced_by === null)
        this.turns.value = [...earlier, ...latest, ...begun]
        if (place <= 0) this.hasMore.value = has_more
        this.state.value = 'ready'
        if (this.named.value === undefined) this.#readName()
        this.#onFollow()
      },
      (error) => this.#failed(error),
    )
  }

  /** After the reading that is under way, so that many changes are read together. */
  #readSoon(): void {
    this.#reading.soon(() => this.read())
  }

  /** Earlier turns. Resolves when they are there, or the reason why not is. */
  async more(): Promise<void> {
    const before = this.turns.value[0]?.run.run_id
    if (before === undefined || !this.hasMore.value) return
    this.hasMore.value = false
    try {
      const { runs, messages, has_more } = await this.#client.sessions.history(this.sessionId, {
        interactions: turnsAtOnce,
        before,
      })
      if (this.#isClosed) return
      this.error.value = ''
      this.turns.value = [...this.#turnsOf(runs, messages), ...this.turns.value]
      this.hasMore.value = has_more
    } catch (error) {
      if (this.#isClosed) return
      this.hasMore.value = true
      this.error.value = messageOf(error)
    }
  }

  #turnsOf(runs: readonly Run[], messages: readonly Message[]): Turn[] {
    const known = new Map(this.turns.value.map((turn) => [turn.run.run_id, turn]))
    const ofRun = Map.groupBy(messages, ({ run_id }) => run_id)
    return runs.map((run) => {
      const { run_id: runId } = run
      const before = known.get(runId)
      return { run, messages: unchanged(before?.messages, ofRun.get(runId) ?? []), answer: before?.answer }
    })
  }

  #readName(): void {
    this.#client.sessions.get(this.sessionId).then(
      ({ name }) => {
        this.named.value ??= { name, title: null }
      },
      () => {
        // Its first message, or its id, stands for it until something changes.
      },
    )
  }

  async rename(name: string): Promise<void> {
    const session = await this.#client.sessions.update(this.sessionId, { name: name === '' ? null : name })
    this.named.value = { title: this.named.value?.title ?? null, name: session.name }
  }

  #failed(error: unknown): void {
    if (this.state.value === 'deleted') return
    const isMissing = hasStatus(error, 404)
    this.state.value = isMissing ? 'missing' : 'failed'
    this.error.value = messageOf(error)
  }

  /** The run has changed: begun, paused, ended, or is new here. */
  runChanged(run: Run): void {
    if (run.session_id !== this.sessionId || run.parent_run_id !== null || run.again_of?.keep === 'no') return
    const turns = this.turns.value
    const place = turns.findIndex((turn) => turn.run.run_id === run.run_id)
    const present = turns[place]
    if (present === undefined) {
      // One of the turns that were not asked for.
      if (this.hasMore.value && run.created_at < (turns[0]?.run.created_at ?? '')) return
      // Its messages are in the history; its events may be here before.
      if (isUnderWay(run) && isAfter(run, turns)) {
        this.turns.value = [...turns, { run, messages: [], answer: undefined }]
      }
      this.#readSoon()
      return
    }
    const { status, completed_at } = present.run
    this.turns.value = turns.with(place, { ...present, run })
    if (isUnderWay(present.run) !== isUnderWay(run)) this.#onFollow()
    // It may have paused, gone on and ended since the last time: its messages are in the history.
    const hasMoved = status !== run.status || completed_at !== run.completed_at
    if (!hasMoved || isUnderWay(run)) return
    this.#readSoon()
    // What came between the last event and the end.
    this.#looked.delete(run.run_id)
    if (present.answer !== undefined) this.look(run.run_id)
  }

  /** False when no run of this session has them. */
  received(event: RunEvent): boolean {
    const turn = this.turns.value.find(({ run }) => run.run_id === event.run_id)
    if (turn === undefined) return false
    const answer = turn.answer ?? new LiveSteps()
    if (answer.receive(event) && turn.answer === undefined) this.#put(event.run_id, answer)
    return true
  }

  #put(runId: string, answer: LiveSteps): void {
    this.turns.value = this.turns.value.map((turn) =>
      turn.run.run_id === runId && turn.answer === undefined ? { ...turn, answer } : turn,
    )
  }

  /** Reads what the events of a run tell that has ended or waits, once. A turn asks for it when it is seen. */
  look(runId: string): void {
    const turn = this.turns.value.find(({ run }) => run.run_id === runId)
    if (turn === undefined || isUnderWay(turn.run) || this.#looked.has(runId)) return
    this.#looked.add(runId)
    this.#readEvents(turn).catch(() => {
      // The answer is there without them; the next look tries again.
      this.#looked.delete(runId)
    })
  }

  async #readEvents(turn: Turn): Promise<void> {
    const { run } = turn
    const { signal } = this.#closing
    const answer = turn.answer ?? new LiveSteps()
    const events = await this.#client.runs.events(run.run_id, { signal, after: answer.seq })
    for await (const event of events) {
      answer.add(event as RunEvent)
      // It goes on: the live stream has what comes, and no second stream stays open.
      if (this.turns.value.some((now) => now.run.run_id === run.run_id && isUnderWay(now.run))) break
    }
    if (turn.answer === undefined) this.#put(run.run_id, answer)
    if (run.status !== 'interrupted') return
    const { truncated } = await this.#client.runs.get(run.run_id, { signal })
    if (truncated) this.truncated.value = new Set([...this.truncated.value, run.run_id])
  }

  /** Whether an answer was refused because somebody else gave one first; the turn then says so. */
  async wasAnswered({ run_id, waiting }: Run, error: unknown): Promise<boolean> {
    if (!hasStatus(error, 409)) return false
    const now = await this.#client.runs.get(run_id, { signal: this.#closing.signal })
    if (now.waiting.some(({ call_id }) => waiting.some((asked) => asked.call_id === call_id))) return false
    this.notes.value = new Map(this.notes.value).set(run_id, 'Somebody else answered first. Your answer was not used.')
    this.read()
    return true
  }

  /** Resolves when the run is accepted. */
  async send(agentId: string, input: RunRequest['input'], files: readonly File[]): Promise<void> {
    await this.#client.agents.background(agentId, {
      input: inputOf(input),
      files,
      session_id: this.sessionId,
    })
    this.#readSoon()
  }
}

export function isUnderWay({ status }: Pick<Run, 'status'>): boolean {
  return status === 'queued' || status === 'running'
}

/** Nothing more comes of it by itself or by an answer. A run that waits has a time of completion too. */
export function isEnded(run: Pick<Run, 'status'> | undefined): boolean {
  return run !== undefined && !isUnderWay(run) && run.status !== 'input_required'
}

/** Those from before where they say the same: what was drawn of a turn holds them, and each reading brings all anew. */
function unchanged(before: readonly Message[] | undefined, now: readonly Message[]): readonly Message[] {
  const isSame =
    before?.length === now.length &&
    now.every(({ message_id, content, parts }, place) => {
      const known = before[place]
      return known?.message_id === message_id && known.content === content && known.parts.length === parts.length
    })
  return isSame ? before : now
}

/** It is none of these, and began later. */
function isAfter(run: Run, turns: readonly Turn[]): boolean {
  const last = turns.at(-1)?.run
  const isKnown = turns.some((turn) => turn.run.run_id === run.run_id)
  return !isKnown && (last === undefined || run.created_at >= last.created_at)
}

/** A message may be files alone; the API wants a part before them. */
export function inputOf(input: RunRequest['input']): RunRequest['input'] {
  return input === '' ? { parts: [{ type: 'text', text: input }] } : input
}

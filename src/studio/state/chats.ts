import { batch, signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { EntityKind } from '../../core/run.ts'
import type { LiveEvent } from '../../wire/live.ts'
import type { Run } from '../../wire/run.ts'
import type { Address } from './address.ts'
import { Conversation } from './conversation.ts'
import type { Wanted } from './live.ts'
import { OpenedRun } from './opened-run.ts'
import { SessionList } from './sessions.ts'

/** The sessions, the one that is looked at, and the run that is looked at: what the page of chats shows, kept up to date. */
export class Chats {
  readonly sessions: SessionList
  readonly conversation = signal<Conversation | undefined>(undefined)
  readonly opened = signal<OpenedRun | undefined>(undefined)
  /** Runs that are looked at side by side. */
  readonly #aside = new Set<OpenedRun>()
  readonly #client: PageClient
  readonly #onFollow: () => void

  /** `onFollow`: something else may have to be followed (`wanted`). */
  constructor(client: PageClient, onFollow: () => void, kindOf?: (agentId: string) => EntityKind) {
    this.#client = client
    this.#onFollow = onFollow
    this.sessions = new SessionList(client, kindOf)
  }

  close(): void {
    this.conversation.value?.close()
    this.opened.value?.close()
    for (const opened of this.#aside) opened.close()
  }

  /** A run that is kept up to date until `closeAside`. */
  openAside(runId: string): OpenedRun {
    const opened = new OpenedRun(this.#client, runId, this.#onFollow)
    this.#aside.add(opened)
    return opened
  }

  closeAside(opened: OpenedRun): void {
    opened.close()
    if (this.#aside.delete(opened)) this.#onFollow()
  }

  show({ sessionId, runId, filter }: Extract<Address, { page: 'chats' }>): void {
    this.sessions.show(filter)
    if (sessionId !== this.conversation.value?.sessionId) {
      this.conversation.value?.close()
      this.conversation.value = sessionId === undefined ? undefined : this.#openSession(sessionId)
    }
    if (runId !== this.opened.value?.runId) {
      this.opened.value?.close()
      this.opened.value = runId === undefined ? undefined : new OpenedRun(this.#client, runId, this.#onFollow)
    }
    this.#onFollow()
  }

  #openSession(sessionId: string): Conversation {
    const opened = new Conversation(this.#client, sessionId, this.#onFollow)
    opened.named.value = this.sessions.rows.value.find(({ session_id }) => session_id === sessionId)
    return opened
  }

  get wanted(): Wanted {
    const open = this.conversation.value
    const runs = new Map(open?.followed)
    const turns = new Set(runs.keys())
    const opened = this.opened.value
    const from = opened?.followed
    if (opened !== undefined && from !== undefined) {
      runs.set(opened.runId, Math.min(from, runs.get(opened.runId) ?? from))
      const { session_id: sessionId, parent_run_id: parent } = opened.run.value ?? {}
      if (sessionId === open?.sessionId && parent === null) turns.add(opened.runId)
    }
    for (const { runId, followed } of this.#aside)
      if (followed !== undefined) runs.set(runId, Math.min(followed, runs.get(runId) ?? followed))
    // An id that no session has is refused.
    return { runs, turns, session: open?.state.value === 'ready' ? open.sessionId : undefined }
  }

  /** What came meanwhile is lost. */
  readAgain(): void {
    this.sessions.read()
    this.conversation.value?.read()
    this.opened.value?.readAgain()
    for (const opened of this.#aside) opened.readAgain()
  }

  receive(events: readonly LiveEvent[]): void {
    batch(() => this.#received(events))
  }

  #received(events: readonly LiveEvent[]): void {
    const heads = new Map<string, Extract<LiveEvent, { type: 'session' }>['head']>()
    const deleted = new Set<string>()
    for (const event of events) {
      if (event.type === 'session') heads.set(event.head.session_id, event.head)
      else if (event.type === 'session_deleted') deleted.add(event.session_id)
      else if (event.type === 'run') this.#runChanged(event.run)
      else if (event.type === 'run_event') {
        this.conversation.value?.received(event.event)
        this.opened.value?.received(event.event)
        for (const opened of this.#aside) opened.received(event.event)
      }
    }
    const open = this.conversation.value
    const head = open === undefined ? undefined : heads.get(open.sessionId)
    if (open !== undefined && head !== undefined) open.named.value = head
    if (heads.size > 0) this.sessions.changed([...heads.values()])
    if (deleted.size === 0) return
    this.sessions.deleted(deleted)
    if (open !== undefined && deleted.has(open.sessionId)) open.state.value = 'deleted'
  }

  #runChanged(run: Run): void {
    this.conversation.value?.runChanged(run)
    this.opened.value?.runChanged(run)
    for (const opened of this.#aside) opened.runChanged(run)
  }
}

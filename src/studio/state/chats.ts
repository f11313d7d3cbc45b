import { batch, computed, signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { EntityKind } from '../../core/run.ts'
import type { LiveEvent } from '../../wire/live.ts'
import type { Run } from '../../wire/run.ts'
import type { Address } from './address/address.ts'
import { Conversation } from './conversation.ts'
import { OpenedRun } from './opened-run.ts'
import type { Wanted } from './server/wanted.ts'
import { SessionList } from './sessions/sessions.ts'

/** The sessions, the one that is looked at, and the run that is looked at: what the page of chats shows, kept up to date. */
export class Chats {
  readonly sessions: SessionList
  /** Those that wait for a person, once they are shown. */
  readonly waiting: SessionList
  /** How many of them there are, as far as it is known: no number is better than a wrong one. */
  readonly waits = computed(() => (this.waiting.state.value === 'failed' ? 0 : (this.waiting.total.value ?? 0)))
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
    this.waiting = new SessionList(client)
  }

  close(): void {
    this.sessions.close()
    this.waiting.close()
    this.conversation.value?.close()
    for (const run of this.#runs) run.close()
  }

  /** Those that are looked at. */
  get #runs(): OpenedRun[] {
    const opened = this.opened.value
    return opened === undefined ? [...this.#aside] : [opened, ...this.#aside]
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
    const opened = this.opened.value?.run.value
    if (opened?.session_id === open?.sessionId && opened?.parent_run_id === null) turns.add(opened.run_id)
    for (const { runId, followed } of this.#runs) {
      if (followed !== undefined) runs.set(runId, Math.min(followed, runs.get(runId) ?? followed))
    }
    // An id that no session has is refused.
    return { runs, turns, session: open?.state.value === 'ready' ? open.sessionId : undefined }
  }

  /** What came meanwhile is lost. */
  readAgain(): void {
    this.sessions.read()
    this.waiting.read()
    this.conversation.value?.read()
    for (const run of this.#runs) run.readAgain()
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
        for (const run of this.#runs) run.received(event.event)
      }
    }
    const open = this.conversation.value
    const head = open === undefined ? undefined : heads.get(open.sessionId)
    if (open !== undefined && head !== undefined) open.named.value = head
    for (const list of [this.sessions, this.waiting]) {
      list.changed([...heads.values()])
      list.deleted(deleted)
    }
    if (open !== undefined && deleted.has(open.sessionId)) open.wasDeleted()
  }

  #runChanged(run: Run): void {
    this.conversation.value?.runChanged(run)
    for (const opened of this.#runs) opened.runChanged(run)
  }
}

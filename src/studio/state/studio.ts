import { signal } from '@preact/signals'
import type { Client } from '../../client/client.ts'
import type { Agent } from '../../wire/agent.ts'
import type { LiveEvent } from '../../wire/live.ts'
import type { Me } from '../../wire/me.ts'
import type { ResumeRequest, Run } from '../../wire/run.ts'
import { type Address, readAddress, writeAddress } from './address.ts'
import { Conversation } from './conversation.ts'
import { LiveReader } from './live.ts'
import { OpenedRun } from './opened-run.ts'
import { keptKey, openClient, type Places } from './server.ts'
import { SessionList } from './sessions.ts'

export type GivenAnswer = NonNullable<ResumeRequest['answers']>[string]

export interface Trouble {
  message: string
  file?: string
  line?: number
  excerpt?: string
}

/** All that the page shows, and what a person can do to it. */
export class Studio {
  readonly places: Places
  readonly status = signal<'starting' | 'needs key' | 'ready' | 'failed'>('starting')
  readonly error = signal('')
  readonly me = signal<Me | undefined>(undefined)
  readonly agents = signal<readonly Agent[]>([])
  /** The config that was saved can't be used; what was there before goes on. */
  readonly trouble = signal<Trouble | undefined>(undefined)
  /** Since when the server can't be reached. */
  readonly lostAt = signal<Date | undefined>(undefined)
  readonly address = signal<Address>({ page: 'chats', filter: {} })
  readonly conversation = signal<Conversation | undefined>(undefined)
  readonly opened = signal<OpenedRun | undefined>(undefined)
  readonly waiting = signal(0)
  client: Client
  sessions: SessionList
  #live: LiveReader | undefined

  constructor(places: Places) {
    this.places = places
    this.client = openClient(places, keptKey.read())
    this.sessions = new SessionList(this.client)
    window.addEventListener('popstate', () => this.#arrived())
    document.addEventListener('click', (event) => this.#clicked(event))
  }

  /** With the key that was kept, or none. */
  async start(): Promise<void> {
    try {
      this.me.value = await this.client.me()
      this.agents.value = (await this.client.agents.list()).agents
    } catch (error) {
      const isKey = error instanceof Error && 'status' in error && error.status === 401
      if (isKey) keptKey.forget()
      this.error.value = error instanceof Error ? error.message : String(error)
      this.status.value = isKey ? 'needs key' : 'failed'
      return
    }
    this.status.value = 'ready'
    this.#arrived()
    this.#live?.stop()
    this.#live = new LiveReader(this.client, {
      receive: (events) => this.#receive(events),
      connected: (isOpen) => {
        if (!isOpen) this.lostAt.value ??= new Date()
        else if (this.lostAt.value !== undefined) this.lostAt.value = undefined
      },
      missed: () => this.#readAgain(),
    })
    this.#follow()
  }

  async openWith(key: string, keep: boolean): Promise<void> {
    if (keep) keptKey.keep(key)
    this.client = openClient(this.places, key)
    this.sessions = new SessionList(this.client)
    this.error.value = ''
    await this.start()
  }

  /** Shows another address, which Back leaves. */
  go(address: Address, replace = false): void {
    const url = `${this.places.path}${writeAddress(address)}` || '/'
    if (replace) history.replaceState(null, '', url)
    else history.pushState(null, '', url)
    this.#arrived()
  }

  /** Links within the studio don't load the page again. */
  #clicked(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    if (link === null || !isPlain || link.target !== '' || link.origin !== location.origin) return
    if (link.pathname !== this.places.path && !link.pathname.startsWith(`${this.places.path}/`)) return
    if (link.hash !== '') return
    event.preventDefault()
    history.pushState(null, '', link.href)
    this.#arrived()
  }

  urlOf(address: Address): string {
    return `${this.places.path}${writeAddress(address)}` || '/'
  }

  /** A session that does not exist until the first message. */
  async begin(agentId: string, text: string): Promise<void> {
    const { session_id: sessionId } = await this.client.agents.background(agentId, { input: text })
    this.go({ page: 'chats', sessionId, filter: this.#filter })
  }

  /** Asks the agent of the last turn; in a session without turns, the first one. */
  async send(conversation: Conversation, agentId: string | undefined, text: string): Promise<void> {
    const asked = agentId ?? this.agents.value[0]?.id
    if (asked === undefined) throw new Error('There is no agent to ask.')
    await conversation.send(asked, text)
  }

  async stop(runId: string): Promise<void> {
    try {
      await this.client.runs.cancel(runId)
    } catch (error) {
      // It has ended meanwhile, or can't be reached, which the page says already.
      this.error.value = error instanceof Error ? error.message : String(error)
    }
  }

  /** Resolves when the answer is recorded. Throws `conflict` when somebody else was first. */
  async answer(runId: string, answers: Readonly<Record<string, GivenAnswer>>): Promise<void> {
    await this.client.runs.resume(runId, { answers: { ...answers }, background: true })
  }

  get #filter() {
    const address = this.address.value
    return address.page === 'chats' ? address.filter : {}
  }

  #arrived(): void {
    const path = location.pathname.slice(this.places.path.length)
    const address = readAddress(path, location.search)
    this.address.value = address
    if (this.status.value !== 'ready') return
    if (address.page === 'run') {
      this.#findRun(address.runId)
      return
    }
    if (address.page !== 'chats') return
    this.sessions.show(address.filter)
    const { sessionId, runId } = address
    const follow = () => this.#follow()
    if (sessionId !== this.conversation.value?.sessionId) {
      this.conversation.value?.close()
      this.conversation.value = sessionId === undefined ? undefined : new Conversation(this.client, sessionId, follow)
    }
    if (runId !== this.opened.value?.runId) {
      this.opened.value?.close()
      this.opened.value = runId === undefined ? undefined : new OpenedRun(this.client, runId, follow)
    }
    this.#follow()
  }

  #findRun(runId: string): void {
    this.client.runs.get(runId).then(
      ({ session_id: sessionId }) => this.go({ page: 'chats', sessionId, runId, filter: {} }, true),
      (error: unknown) => {
        this.error.value = error instanceof Error ? error.message : String(error)
        this.address.value = { page: 'unknown' }
      },
    )
  }

  #follow(): void {
    const runs = new Map(this.conversation.value?.followed)
    const opened = this.opened.value
    const from = opened?.followed
    if (opened !== undefined && from !== undefined)
      runs.set(opened.runId, Math.min(from, runs.get(opened.runId) ?? from))
    this.#live?.follow(runs)
  }

  #readAgain(): void {
    this.sessions.read()
    this.conversation.value?.read()
  }

  #receive(events: readonly LiveEvent[]): void {
    const heads = new Map<string, Extract<LiveEvent, { type: 'session' }>['head']>()
    const deleted = new Set<string>()
    for (const event of events) {
      if (event.type === 'session') heads.set(event.head.session_id, event.head)
      else if (event.type === 'session_deleted') deleted.add(event.session_id)
      else if (event.type === 'run') this.#runChanged(event.run)
      else if (event.type === 'run_event') {
        this.conversation.value?.received(event.event)
        this.opened.value?.received(event.event)
      } else if (event.type === 'agents') this.#agentsChanged(event)
    }
    if (heads.size > 0) this.sessions.changed([...heads.values()])
    if (deleted.size === 0) return
    this.sessions.deleted(deleted)
    const open = this.conversation.value
    if (open !== undefined && deleted.has(open.sessionId)) open.state.value = 'deleted'
  }

  #runChanged(run: Run): void {
    this.conversation.value?.runChanged(run)
    this.opened.value?.runChanged(run)
  }

  #agentsChanged({ ok, error }: Extract<LiveEvent, { type: 'agents' }>): void {
    this.trouble.value = ok ? undefined : error
    if (!ok) return
    this.client.agents.list().then(
      ({ agents }) => {
        this.agents.value = agents
      },
      () => {
        // The next change, or the next visit, reads them again.
      },
    )
  }
}

import { signal } from '@preact/signals'
import type { Client } from '../../client/client.ts'
import type { Agent } from '../../wire/agent.ts'
import type { LiveEvent } from '../../wire/live.ts'
import type { Me } from '../../wire/me.ts'
import type { ResumeRequest } from '../../wire/run.ts'
import { type Address, readAddress, writeAddress } from './address.ts'
import { Chats } from './chats.ts'
import type { Conversation } from './conversation.ts'
import { Keys } from './keys.ts'
import { LiveReader } from './live.ts'
import { messageOf } from './message-of.ts'
import { keptKey, openClient, type Places } from './server.ts'

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
  readonly keys = new Keys()
  client: Client
  chats: Chats
  #live: LiveReader | undefined
  readonly #listeners = new Set<(events: readonly LiveEvent[]) => void>()

  constructor(places: Places) {
    this.places = places
    this.client = openClient(places, keptKey.read())
    this.chats = this.#newChats()
    window.addEventListener('popstate', () => this.#arrived())
    document.addEventListener('click', (event) => this.#clicked(event))
  }

  #newChats(): Chats {
    const kindOf = (agentId: string) => this.agents.value.find(({ id }) => id === agentId)?.kind ?? 'agent'
    return new Chats(this.client, () => this.#live?.follow(this.chats.followed), kindOf)
  }

  /** With the key that was kept, or none. */
  async start(): Promise<void> {
    try {
      this.me.value = await this.client.me()
      this.agents.value = (await this.client.agents.list()).agents
    } catch (error) {
      const isKey = error instanceof Error && 'status' in error && error.status === 401
      if (isKey) keptKey.forget()
      this.error.value = messageOf(error)
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
      missed: () => this.chats.readAgain(),
    })
    this.#live.follow(this.chats.followed)
  }

  async openWith(key: string, keep: boolean): Promise<void> {
    if (keep) keptKey.keep(key)
    this.client = openClient(this.places, key)
    this.chats = this.#newChats()
    this.error.value = ''
    await this.start()
  }

  /** Shows another address, which Back leaves. */
  go(address: Address, replace = false): void {
    const url = this.urlOf(address)
    if (replace) history.replaceState(null, '', url)
    else history.pushState(null, '', url)
    this.#arrived()
  }

  urlOf(address: Address): string {
    return `${this.places.path}${writeAddress(address)}` || '/'
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
      this.error.value = messageOf(error)
    }
  }

  /** Resolves when the answer is recorded. Throws `conflict` when somebody else was first. */
  async answer(runId: string, answers: Readonly<Record<string, GivenAnswer>>): Promise<void> {
    await this.client.runs.resume(runId, { answers: { ...answers }, background: true })
  }

  /** Hands over what comes by the live stream too, once a frame, until the function that it returns is called. */
  listen(receive: (events: readonly LiveEvent[]) => void): () => void {
    this.#listeners.add(receive)
    return () => this.#listeners.delete(receive)
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
    if (address.page === 'run') this.#findRun(address.runId)
    else if (address.page === 'chats') this.chats.show(address)
  }

  #findRun(runId: string): void {
    this.client.runs.get(runId).then(
      ({ session_id: sessionId }) => this.go({ page: 'chats', sessionId, runId, filter: {} }, true),
      (error: unknown) => {
        this.error.value = messageOf(error)
        this.address.value = { page: 'unknown' }
      },
    )
  }

  #receive(events: readonly LiveEvent[]): void {
    for (const event of events) if (event.type === 'agents') this.#agentsChanged(event)
    this.chats.receive(events)
    for (const listener of this.#listeners) listener(events)
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

import { signal } from '@preact/signals'
import type { Client } from '../../client/client.ts'
import type { Scope } from '../../core/access/scope.ts'
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
import { ThemeChoice } from './theme.ts'
import { Waiting } from './waiting.ts'

export type GivenAnswer = NonNullable<ResumeRequest['answers']>[string]

export interface Trouble {
  message: string
  file?: string
  line?: number
  excerpt?: string
}

/** Lists are read once changes are told, so that nothing is missed in between, but not much later. */
const longestGreetingMs = 500
/** Kept with an address that was reached from another one of the studio. */
const inside = 'inside'

/** All that the page shows, and what a person can do to it. */
export class Studio {
  readonly places: Places
  readonly status = signal<'starting' | 'needs key' | 'ready' | 'failed'>('starting')
  readonly error = signal('')
  readonly me = signal<Me | undefined>(undefined)
  readonly agents = signal<readonly Agent[]>([])
  /** The config that was saved can't be used; what was there before goes on. */
  readonly trouble = signal<Trouble | undefined>(undefined)
  /** Changes come. Before that, and in a tab that nobody has seen yet, they don't. */
  readonly isLive = signal(false)
  /** Since when nothing comes from the server, and what it said if it said something. */
  readonly lost = signal<{ at: Date; why: string } | undefined>(undefined)
  /** The version of the server now; the page may be of another. */
  readonly served = signal<string | undefined>(undefined)
  readonly address = signal<Address>({ page: 'chats', filter: {} })
  readonly keys = new Keys()
  readonly theme = new ThemeChoice()
  client!: Client
  chats!: Chats
  waiting!: Waiting
  #live: LiveReader | undefined
  #key: string | undefined
  readonly #listeners = new Set<(events: readonly LiveEvent[]) => void>()

  constructor(places: Places) {
    this.places = places
    this.served.value = places.version
    this.#connect(keptKey.read())
    window.addEventListener('popstate', () => this.#arrived())
    document.addEventListener('click', (event) => this.#clicked(event))
  }

  /** Nothing of what another key showed is left. */
  #connect(key: string | undefined): void {
    this.#live?.stop()
    this.#live = undefined
    this.chats?.close()
    this.waiting?.close()
    this.#key = key
    const client = this.#clientWith(undefined)
    this.client = client
    this.chats = new Chats(client, () => this.#follow())
    this.waiting = new Waiting(client)
    this.me.value = undefined
    this.agents.value = []
    this.trouble.value = undefined
    this.lost.value = undefined
    this.isLive.value = false
  }

  /** The key was taken before, or none was wanted. */
  #refused(): void {
    const hadKey = this.#key !== undefined
    keptKey.forget()
    this.#connect(undefined)
    this.error.value = hadKey ? 'The server does not take this key any more.' : ''
    this.status.value = 'needs key'
  }

  #clientWith(retries: number | undefined): Client {
    const key = this.#key
    const onRefused = () => {
      if (key === this.#key && this.status.value === 'ready') this.#refused()
    }
    return openClient(this.places, { key, onRefused, retries })
  }

  /** For calls that the page itself tries again. */
  get impatientClient(): Client {
    return this.#clientWith(0)
  }

  /** Whether the key has the scope. Without keys everybody has. */
  may(scope: Scope): boolean {
    return this.me.value?.scopes.includes(scope) === true
  }

  /** With the key that was kept, or none. */
  async start(): Promise<void> {
    const { client } = this
    try {
      this.me.value = await client.me()
      const [{ agents }] = await Promise.all([client.agents.list(), this.may('sessions') ? this.#goLive() : undefined])
      if (this.client !== client) return
      this.agents.value = agents
    } catch (error) {
      if (this.client !== client) return
      const isKey = error instanceof Error && 'status' in error && error.status === 401
      this.error.value = isKey && this.#key === undefined ? '' : messageOf(error)
      if (isKey) keptKey.forget()
      this.#connect(isKey ? undefined : this.#key)
      this.status.value = isKey ? 'needs key' : 'failed'
      return
    }
    this.status.value = 'ready'
    this.#arrived()
    if (this.may('sessions')) this.waiting.read()
    this.#follow()
  }

  /** Resolves when changes come, or can't, and at once in a tab that nobody sees. */
  #goLive(): Promise<void> {
    return new Promise((resolve) => {
      this.#live = new LiveReader(this.impatientClient, {
        receive: (events) => this.#receive(events),
        opened: () => {
          this.isLive.value = true
          this.lost.value = undefined
          resolve()
        },
        lost: (error) => {
          const isAnswer = error instanceof Error && 'status' in error
          this.lost.value = { at: this.lost.value?.at ?? new Date(), why: isAnswer ? messageOf(error) : '' }
          resolve()
        },
        missed: () => {
          if (this.status.value !== 'ready') return
          this.chats.readAgain()
          this.waiting.read()
        },
      })
      if (document.visibilityState === 'hidden') resolve()
      else setTimeout(resolve, longestGreetingMs)
    })
  }

  /** Events of runs need a scope of their own. */
  #follow(): void {
    if (this.may('run')) this.#live?.follow(this.chats.followed)
  }

  async openWith(key: string, keep: boolean): Promise<void> {
    if (keep) keptKey.keep(key)
    this.#connect(key)
    this.error.value = ''
    await this.start()
  }

  /** Shows another address, which Back leaves. */
  go(address: Address, replace = false): void {
    const url = this.urlOf(address)
    if (replace) history.replaceState(history.state, '', url)
    else history.pushState(inside, '', url)
    this.#arrived()
  }

  /** To where the page was before, if that was the studio. */
  back(): void {
    if (history.state === null) this.go({ page: 'chats', filter: {} })
    else history.back()
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
    history.pushState(inside, '', link.href)
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

  /** Before the first message of a session. */
  get newChat(): Address {
    return { page: 'chats', isNew: true, filter: this.#filter }
  }

  #arrived(): void {
    const path = location.pathname.slice(this.places.path.length)
    const address = readAddress(path, location.search)
    this.address.value = address
    if (this.status.value !== 'ready') return
    if (address.page === 'run') this.#findRun(address.runId)
    else if (address.page === 'chats' && this.may('sessions')) this.chats.show(address)
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
    for (const event of events) {
      if (event.type === 'agents') this.#agentsChanged(event)
      else if (event.type === 'hello') this.#greeted(event)
    }
    this.chats.receive(events)
    this.waiting.receive(events)
    for (const listener of this.#listeners) listener(events)
  }

  #greeted({ server_id: serverId, version }: Extract<LiveEvent, { type: 'hello' }>): void {
    this.served.value = version
    const me = this.me.value
    if (me === undefined || me.server_id === serverId) return
    // Another process: it has read its own config, and may take the key for another.
    this.me.value = { ...me, server_id: serverId }
    this.trouble.value = undefined
    const { client } = this
    client.me().then(
      (read) => {
        if (this.client === client) this.me.value = read
      },
      () => {
        // What the key could do before is shown until the next start; the server decides anyway.
      },
    )
    this.#readAgents()
  }

  #agentsChanged({ ok, error }: Extract<LiveEvent, { type: 'agents' }>): void {
    this.trouble.value = ok ? undefined : error
    if (ok) this.#readAgents()
  }

  #readAgents(): void {
    const { client } = this
    client.agents.list().then(
      ({ agents }) => {
        if (this.client === client) this.agents.value = agents
      },
      () => {
        // The next change, or the next visit, reads them again.
      },
    )
  }
}

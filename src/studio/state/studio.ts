import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { Scope } from '../../core/access/scope.ts'
import type { LiveEvent } from '../../wire/live.ts'
import type { Me } from '../../wire/me.ts'
import type { ResumeRequest, RunRequest } from '../../wire/run.ts'
import type { Address } from './address/address.ts'
import { Navigation } from './address/navigation.ts'
import { Chats } from './chats.ts'
import { inputOf } from './conversation.ts'
import { Pins } from './kept/pins.ts'
import { ThemeChoice } from './kept/theme.ts'
import { Keys } from './keys/keys.ts'
import { LiveReader } from './server/live.ts'
import { hasStatus, messageOf } from './server/message-of.ts'
import { Served } from './server/served.ts'
import { keptKey, openClient, type Places } from './server/server.ts'

/** A message, or what a workflow takes. */
export type AskedFor = RunRequest['input']
export type GivenAnswer = NonNullable<ResumeRequest['answers']>[string]

/** Lists are read once changes are told, so that nothing is missed in between, but not much later. */
const longestGreetingMs = 500

/** All that the page shows, and what a person can do to it. */
export class Studio {
  readonly places: Places
  /** What it shows is of a file. */
  readonly isFile: boolean = false
  readonly status = signal<'starting' | 'needs key' | 'ready' | 'failed'>('starting')
  readonly error = signal('')
  readonly #served = new Served()
  readonly me = this.#served.me
  readonly agents = this.#served.agents
  readonly trouble = this.#served.trouble
  readonly served = this.#served.version
  readonly saves = this.#served.saves
  /** Changes come. Before that, and in a tab that nobody has seen yet, they don't. */
  readonly isLive = signal(false)
  /** Since when nothing comes from the server, and what it said if it said something. */
  readonly lost = signal<{ at: Date; why: string } | undefined>(undefined)
  readonly address: Navigation['address']
  readonly keys = new Keys()
  readonly theme = new ThemeChoice()
  readonly pins = new Pins()
  client!: PageClient
  chats!: Chats
  readonly #navigation: Navigation
  #live: LiveReader | undefined
  #key: string | undefined
  /** The session that was begun last in this page. */
  begun: string | undefined
  readonly #listeners = new Set<(events: readonly LiveEvent[]) => void>()

  constructor(places: Places) {
    this.places = places
    this.served.value = places.version
    this.#connect(keptKey.read())
    this.#navigation = new Navigation(places.path, (address) => this.#arrived(address))
    this.address = this.#navigation.address
  }

  /** Nothing of what another key showed is left. */
  #connect(key: string | undefined): void {
    this.#live?.stop()
    this.#live = undefined
    this.chats?.close()
    this.#key = key
    const client = this.#clientWith(undefined)
    this.client = client
    const kindOf = (agentId: string) => this.agents.value.find(({ id }) => id === agentId)?.kind ?? 'agent'
    this.chats = new Chats(client, () => this.#follow(), kindOf)
    this.#served.use(client)
    this.lost.value = undefined
    this.isLive.value = false
  }

  /** The key was taken before, or none was wanted. */
  #refused(): void {
    const hadKey = this.#key !== undefined
    keptKey.forget()
    this.pins.clear()
    this.#connect(undefined)
    const lost = this.places.credential.replace('API ', '')
    this.error.value = hadKey ? `The server does not take this ${lost} any more.` : ''
    this.status.value = 'needs key'
  }

  #clientWith(retries: number | undefined): PageClient {
    const key = this.#key
    const onRefused = () => {
      if (key === this.#key && this.status.value === 'ready') this.#refused()
    }
    return openClient(this.places, { key, onRefused, retries })
  }

  /** For calls that the page itself tries again. */
  get impatientClient(): PageClient {
    return this.#clientWith(0)
  }

  /** Whether the key has the scope. Without keys everybody has. */
  may(scope: Scope): boolean {
    return this.me.value?.scopes.includes(scope) === true
  }

  /** Whether the server allows it to the key. */
  can(what: keyof Me['can']): boolean {
    return this.me.value?.can[what] === true
  }

  /** With the key that was kept, or none. */
  async start(): Promise<void> {
    const { client } = this
    try {
      await this.#served.readMe()
      await Promise.all([this.#served.readAgents(), this.may('sessions') ? this.#goLive() : undefined])
      if (this.client !== client) return
    } catch (error) {
      if (this.client !== client) return
      const isKey = hasStatus(error, 401)
      this.error.value = isKey && this.#key === undefined ? '' : messageOf(error)
      if (isKey) keptKey.forget()
      this.#connect(isKey ? undefined : this.#key)
      this.status.value = isKey ? 'needs key' : 'failed'
      return
    }
    this.status.value = 'ready'
    this.#navigation.arrived()
    if (this.may('sessions')) this.chats.waiting.show({ status: 'input_required' })
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
        },
      })
      if (document.visibilityState === 'hidden') resolve()
      else setTimeout(resolve, longestGreetingMs)
    })
  }

  /** Events of runs need a scope of their own. */
  #follow(): void {
    if (this.may('run')) this.#live?.follow(this.chats.wanted)
  }

  async openWith(key: string, keep: boolean): Promise<void> {
    if (keep) keptKey.keep(key)
    this.#connect(key)
    this.error.value = ''
    await this.start()
  }

  /** Shows another address, which Back leaves. */
  go(address: Address, replace = false): void {
    this.#navigation.go(address, replace)
  }

  /** To where the page was before. */
  back(): void {
    this.#navigation.back()
  }

  urlOf(address: Address): string {
    return this.#navigation.urlOf(address)
  }

  /** A session that does not exist until the first message. */
  async begin(agentId: string, input: AskedFor, files: readonly File[]): Promise<void> {
    const { session_id: sessionId } = await this.client.agents.background(agentId, { input: inputOf(input), files })
    this.begun = sessionId
    this.go({ page: 'chats', sessionId, filter: this.#filter })
  }

  async stop(runId: string): Promise<void> {
    try {
      await this.client.runs.cancel(runId)
    } catch (error) {
      // It has ended meanwhile, or can't be reached, which the page says already.
      this.error.value = messageOf(error)
    }
  }

  /**
   * Answers all that a run waits for, by `call_id`; `''` for a request without one. Resolves when it is recorded. Throws `conflict`
   * when somebody else was first.
   */
  async answer(runId: string, given: Readonly<Record<string, GivenAnswer>>): Promise<void> {
    const { '': unnamed, ...answers } = given
    const { approved, input, reason } = unnamed ?? {}
    const said = input ?? reason
    await this.client.runs.resume(runId, {
      approved,
      input: said,
      ...(Object.keys(answers).length > 0 && { answers }),
      background: true,
    })
  }

  /** Saves of files are noticed by `dev` alone. */
  get canWatch(): boolean {
    return this.can('again') && this.me.value?.mode === 'dev'
  }

  /** Shows what saves of files change, in this turn too. */
  watch(runId?: string): void {
    if (runId !== undefined) this.pins.add(runId)
    this.go({ page: 'watch' })
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

  #arrived(address: Address): void {
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
    this.#served.receive(events)
    this.chats.receive(events)
    for (const listener of this.#listeners) listener(events)
  }
}

import { signal } from '@preact/signals'
import type { PageClient } from '../../../client/page.ts'
import type { Agent } from '../../../wire/agent.ts'
import type { LiveEvent } from '../../../wire/live.ts'
import type { Me } from '../../../wire/me.ts'

export interface Trouble {
  message: string
  file?: string
  line?: number
  excerpt?: string
}

/** The server, as the key in use has it: its agents, its version, and what the key may do. */
export class Served {
  readonly me = signal<Me | undefined>(undefined)
  readonly agents = signal<readonly Agent[]>([])
  /** The config that was saved can't be used; what was there before goes on. */
  readonly trouble = signal<Trouble | undefined>(undefined)
  /** The page may be of another. */
  readonly version = signal<string | undefined>(undefined)
  /** How many saves that could be loaded have come while the page was there. */
  readonly saves = signal(0)
  /** Of the agents: a stream that opens tells the outcome of the last save once more. */
  #loaded: number | undefined
  #server: string | undefined
  #client!: PageClient

  /** With another client, of another key perhaps; nothing is known until `read`. */
  use(client: PageClient): void {
    this.#client = client
    this.me.value = undefined
    this.agents.value = []
    this.trouble.value = undefined
  }

  async readMe(): Promise<void> {
    const client = this.#client
    const me = await client.me()
    if (this.#client === client) this.me.value = me
  }

  async readAgents(): Promise<void> {
    const client = this.#client
    const { agents } = await client.agents.list()
    if (this.#client === client) this.agents.value = agents
  }

  receive(events: readonly LiveEvent[]): void {
    for (const event of events) {
      if (event.type === 'agents') this.#agentsChanged(event)
      else if (event.type === 'hello') this.#greeted(event)
    }
  }

  #greeted({ server_id: serverId, version, agents }: Extract<LiveEvent, { type: 'hello' }>): void {
    this.version.value = version
    if (this.#server !== serverId) {
      this.#server = serverId
      this.#loaded = agents
    }
    const me = this.me.value
    if (me === undefined || me.server_id === serverId) return
    // Another process: it has read its own config, and may take the key for another.
    this.me.value = { ...me, server_id: serverId }
    this.trouble.value = undefined
    this.readMe().catch(stay)
    this.readAgents().catch(stay)
  }

  #agentsChanged({ version, ok, error }: Extract<LiveEvent, { type: 'agents' }>): void {
    this.trouble.value = ok ? undefined : error
    if (version === this.#loaded) return
    this.#loaded = version
    if (!ok) return
    this.saves.value++
    this.readAgents().catch(stay)
  }
}

/** What was known before is shown until the next change or the next visit; the server decides anyway. */
function stay(): void {}

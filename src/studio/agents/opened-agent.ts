import { batch, signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { Agent } from '../../wire/agent.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { LiveEvent } from '../../wire/live.ts'
import type { Run } from '../../wire/run.ts'
import type { SessionHead } from '../../wire/session.ts'
import { hasStatus, messageOf } from '../state/message-of.ts'

const sessionCount = 10

/** What the key may read besides the agent itself. */
interface MayRead {
  config: boolean
  sessions: boolean
}

export interface LastRun {
  run: Run
  events: readonly RunEvent[]
}

/** An agent, team or workflow that is looked at, with its newest sessions and, of a workflow, its last run. */
export class OpenedAgent {
  readonly agentId: string
  readonly agent = signal<Agent | undefined>(undefined)
  readonly state = signal<'loading' | 'ready' | 'gone' | 'failed'>('loading')
  readonly error = signal('')
  readonly sessions = signal<readonly SessionHead[] | undefined>(undefined)
  /** Null: it never ran. Undefined: not known. */
  readonly lastRun = signal<LastRun | null | undefined>(undefined)
  readonly #client: PageClient
  readonly #may: MayRead
  readonly #closing = new AbortController()
  #isReading = false
  /** Something ran while they were read. */
  #isOld = false

  constructor(client: PageClient, agentId: string, may: MayRead) {
    this.#client = client
    this.agentId = agentId
    this.#may = may
  }

  /** Also after a reload of the config. */
  async read(): Promise<void> {
    const { signal } = this.#closing
    const { agents } = this.#client
    try {
      const agent = this.#may.config
        ? await agents.get(this.agentId, { include: 'config', signal })
        : await agents.get(this.agentId, { signal })
      const isFirst = this.agent.value === undefined
      batch(() => {
        this.agent.value = agent
        this.state.value = 'ready'
        this.error.value = ''
      })
      if (isFirst) await this.#readRuns(agent)
    } catch (error) {
      if (signal.aborted) return
      batch(() => {
        this.error.value = messageOf(error)
        const isGone = hasStatus(error, 404)
        this.state.value = isGone ? 'gone' : 'failed'
      })
    }
  }

  receive(events: readonly LiveEvent[]): void {
    const agent = this.agent.value
    if (agent === undefined) return
    const isOld = events.some(
      (event) => event.type === 'reset' || (event.type === 'run' && event.run.entity_id === this.agentId),
    )
    if (isOld) void this.#readRuns(agent)
  }

  close(): void {
    this.#closing.abort()
  }

  async #readRuns(agent: Agent): Promise<void> {
    const { kind } = agent
    if (!this.#may.sessions) return
    this.#isOld = this.#isReading
    if (this.#isReading) return
    this.#isReading = true
    const { signal } = this.#closing
    try {
      const [sessions, lastRun] = await Promise.all([
        this.#client.sessions.list({ view: 'head', [`${kind}_id`]: this.agentId }, { limit: sessionCount, signal }),
        kind === 'workflow' ? this.#readLastRun() : undefined,
      ])
      batch(() => {
        this.sessions.value = sessions.sessions
        this.lastRun.value = lastRun
      })
    } catch (error) {
      if (!signal.aborted) this.error.value = messageOf(error)
    } finally {
      this.#isReading = false
    }
    if (this.#isOld && !signal.aborted) await this.#readRuns(agent)
  }

  async #readLastRun(): Promise<LastRun | null> {
    const { signal } = this.#closing
    const { runs } = await this.#client.runs.list({ agent_id: this.agentId }, { limit: 1, signal })
    const [run] = runs
    if (run === undefined) return null
    const known = this.lastRun.value
    const isSame = known?.run.run_id === run.run_id && known.run.status === run.status
    if (isSame && run.status !== 'input_required') return known
    // What a run under way still does comes with its next change: its stream would not end.
    const isOver = run.status !== 'running' && run.status !== 'queued'
    const events: RunEvent[] = []
    if (isOver)
      for await (const event of await this.#client.runs.events(run.run_id, { signal })) events.push(event as RunEvent)
    return { run, events }
  }
}

import { batch, signal } from '@preact/signals'
import type { Agent } from '../../wire/agent.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { LiveEvent } from '../../wire/live.ts'
import type { Run } from '../../wire/run.ts'
import type { SessionHead } from '../../wire/session.ts'
import { Latest } from '../state/reading/latest.ts'
import { hasStatus, messageOf } from '../state/server/message-of.ts'
import type { Studio } from '../state/studio.ts'

const sessionCount = 10

export interface LastRun {
  run: Run
  events: readonly RunEvent[]
}

/** An agent, team or workflow that is looked at, with its newest sessions and, of a workflow, its last run. */
export class OpenedAgent {
  readonly agentId: string
  /** Undefined: it is not read yet, or not there any more. */
  readonly agent = signal<Agent | undefined>(undefined)
  readonly error = signal('')
  readonly sessions = signal<readonly SessionHead[] | undefined>(undefined)
  /** Null: it never ran. Undefined: not known. */
  readonly lastRun = signal<LastRun | null | undefined>(undefined)
  readonly #studio: Studio
  readonly #reading = new Latest()
  readonly #readingRuns = new Latest()

  constructor(studio: Studio, agentId: string) {
    this.#studio = studio
    this.agentId = agentId
  }

  /** Also after a reload of the config. */
  read(): void {
    const { client } = this.#studio
    const include = this.#studio.can('config') && { include: 'config' as const }
    this.#reading.read(
      (signal) => client.agents.get(this.agentId, { ...include, signal }),
      (agent) => {
        const isFirst = this.agent.value === undefined
        this.agent.value = agent
        this.error.value = ''
        if (isFirst) this.#readRuns()
      },
      (error) => {
        this.error.value = messageOf(error)
        if (hasStatus(error, 404)) this.agent.value = undefined
      },
    )
  }

  receive(events: readonly LiveEvent[]): void {
    const isOld = events.some(
      (event) => event.type === 'reset' || (event.type === 'run' && event.run.entity_id === this.agentId),
    )
    if (isOld) this.#readingRuns.soon(() => this.#readRuns())
  }

  close(): void {
    this.#reading.stop()
    this.#readingRuns.stop()
  }

  #readRuns(): void {
    const kind = this.agent.value?.kind
    if (kind === undefined || !this.#studio.may('sessions')) return
    const { sessions } = this.#studio.client
    this.#readingRuns.read(
      (signal) =>
        Promise.all([
          sessions.list({ view: 'head', [`${kind}_id`]: this.agentId }, { limit: sessionCount, signal }),
          kind === 'workflow' ? this.#readLastRun(signal) : undefined,
        ]),
      ([{ sessions }, lastRun]) =>
        batch(() => {
          this.sessions.value = sessions
          this.lastRun.value = lastRun
        }),
      (error) => {
        this.error.value = messageOf(error)
      },
    )
  }

  async #readLastRun(signal: AbortSignal): Promise<LastRun | null> {
    const { runs } = this.#studio.client
    const [run] = (await runs.list({ agent_id: this.agentId }, { limit: 1, signal })).runs
    if (run === undefined) return null
    const { run_id: runId, status } = run
    const known = this.lastRun.value
    const isSame = known?.run.run_id === runId && known.run.status === status
    if (isSame && status !== 'input_required') return known
    // What a run under way still does comes with its next change: its stream would not end.
    const isOver = status !== 'running' && status !== 'queued'
    const events: RunEvent[] = []
    if (isOver) for await (const event of await runs.events(runId, { signal })) events.push(event as RunEvent)
    return { run, events }
  }
}

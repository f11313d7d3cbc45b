import type { Wake } from '../../../../core/cluster/cluster.ts'
import type { RunStatus } from '../../../../core/run.ts'
import type { Database } from '../database.ts'

const lookMs = 1_000
/** While nothing is heard of other instances. */
const deafMs = 250

interface Look {
  run_id: string
  owner: number
  status: RunStatus
  fence: number
  recorded_seq: number
}

export const selectLooks = `SELECT run_id, owner, status, fence, recorded_seq FROM run WHERE run_id = ANY($1::text[])`

/** What a run was like at the last look. */
interface Known {
  /** Undefined: there was no look yet. */
  state: string | undefined
  recorded: number
  /** Its owner has told of events since. */
  isHeard: boolean
}

const gone = 'gone'

/**
 * The runs elsewhere that this instance follows. Every second it looks at all of them in one statement, so that it notices
 * also what nobody tells it: lost wake-ups, takeovers, deletions.
 */
export class Follows {
  readonly #database: Pick<Database, 'read' | 'logger'>
  readonly #ask: (owner: number, runIds: string[]) => void
  readonly #wake: (wake: Wake) => void
  readonly #runs = new Map<string, Known>()
  #isDeaf = true
  #looking: Promise<void> | undefined
  #looks: NodeJS.Timeout | undefined
  #polls: NodeJS.Timeout | undefined

  constructor(
    database: Pick<Database, 'read' | 'logger'>,
    ask: (owner: number, runIds: string[]) => void,
    wake: (wake: Wake) => void,
  ) {
    this.#database = database
    this.#ask = ask
    this.#wake = wake
  }

  set isDeaf(isDeaf: boolean) {
    this.#isDeaf = isDeaf
    this.#schedule()
  }

  add(runId: string): void {
    if (this.#runs.has(runId)) return
    this.#runs.set(runId, { state: undefined, recorded: 0, isHeard: false })
    this.#schedule()
    this.lookNow()
  }

  delete(runId: string): void {
    this.#runs.delete(runId)
    this.#schedule()
  }

  /** The owner of the run has told of events: whoever reads it knows. */
  heard(runId: string): void {
    const run = this.#runs.get(runId)
    if (run !== undefined) run.isHeard = true
  }

  /** Looks at all of them once more, also when a look is under way. */
  lookNow(): void {
    if (this.#runs.size === 0) return
    this.#looking ??= Promise.resolve().then(() => this.#look())
  }

  async close(): Promise<void> {
    this.#runs.clear()
    this.#schedule()
    await this.#looking
  }

  #schedule(): void {
    const follows = this.#runs.size > 0
    if (!follows) {
      clearInterval(this.#looks)
      this.#looks = undefined
    } else this.#looks ??= setInterval(() => this.lookNow(), lookMs).unref()
    if (!follows || !this.#isDeaf) {
      clearInterval(this.#polls)
      this.#polls = undefined
    } else this.#polls ??= setInterval(() => this.#wake({ kind: 'missed' }), deafMs).unref()
  }

  async #look(): Promise<void> {
    // A run that is added from now on needs another look.
    this.#looking = undefined
    const asked = [...this.#runs.keys()]
    try {
      const looks = await this.#database.read.all<Look>(selectLooks, [asked])
      this.#compare(asked, new Map(looks.map((look) => [look.run_id, look])))
    } catch (error) {
      this.#database.logger.debug({ error }, 'followed runs could not be looked at')
    }
  }

  #compare(asked: readonly string[], looks: ReadonlyMap<string, Look>): void {
    const byOwner = new Map<number, string[]>()
    for (const runId of asked) {
      const before = this.#runs.get(runId)
      if (before === undefined) continue
      const look = looks.get(runId)
      const now: Known = {
        state: look === undefined ? gone : `${look.status} ${look.fence}`,
        recorded: look?.recorded_seq ?? 0,
        isHeard: false,
      }
      this.#runs.set(runId, now)
      const isActive = look?.status === 'running' || look?.status === 'queued'
      if (before.state === undefined ? !isActive : hasMore(before, now)) this.#wake({ kind: 'events', run_id: runId })
      if (look !== undefined && isActive) byOwner.set(look.owner, [...(byOwner.get(look.owner) ?? []), runId])
    }
    for (const [owner, runIds] of byOwner) this.#ask(owner, runIds)
  }
}

function hasMore(before: Known, now: Known): boolean {
  return now.state !== before.state || (now.recorded !== before.recorded && !before.isHeard)
}

import { isEnded, isTurn } from '../../../src/core/run.ts'
import type { Recovered } from '../../../src/core/store.ts'
import { timestamp } from '../../../src/core/time.ts'
import { expireClaims, releaseClaims } from '../../../src/store/sessions/memory/claims.ts'
import { deleteFiles } from '../../../src/store/sessions/memory/files.ts'
import { recoverRuns } from '../../../src/store/sessions/memory/recover.ts'
import type { MemoryState, RunRow, SessionRow } from '../../../src/store/sessions/memory/rows.ts'
import { Instances } from './instances.ts'
import { Wires } from './wires.ts'

/** What the stores of a cluster have in common. Every method is one step. */
export class SharedState {
  readonly instances = new Instances()
  readonly wires = new Wires()
  /** By run: why it was asked to end. */
  readonly cancels = new Map<string, string>()
  /** By claim, by run of a saved file, and by session of a summary job: who is at work on it. */
  readonly claims = new Map<string, string>()
  readonly files = new Map<string, string>()
  readonly jobs = new Map<string, string>()
  readonly #births = new WeakMap<SessionRow, number>()
  #sessionCount = 0
  readonly content: MemoryState

  constructor(content: MemoryState) {
    this.content = content
  }

  /** Which of the sessions ever made this is. */
  birthOf(session: SessionRow): number {
    const birth = this.#births.get(session) ?? ++this.#sessionCount
    this.#births.set(session, birth)
    return birth
  }

  /** The turns of a session that run or wait, in stored order. */
  activeTurns(sessionId: string): RunRow[] {
    const runs = this.content.sessions.get(sessionId)?.runs ?? []
    return runs.filter(({ record }) => isTurn(record) && !isEnded(record.status))
  }

  /** Who has active runs, or is at work on an idempotency key. */
  busyOwners(): Set<string> {
    const owners = new Set([...this.content.runs.values()].filter(isActive).map(({ owner }) => owner))
    for (const { key, run_id, answer } of this.content.claims.values()) {
      if (run_id === null && answer === null) owners.add(this.claims.get(key) ?? '')
    }
    return owners
  }

  cancelsOf(owner: string): { run_id: string; reason: string }[] {
    return [...this.cancels].flatMap(([run_id, reason]) => {
      const row = this.content.runs.get(run_id)
      return row?.owner === owner && isActive(row) ? { run_id, reason } : []
    })
  }

  /** Tells the followers of a run, and who has the next turn after it. */
  wakeAfter(runId: string): void {
    this.wires.wakeFollowers(runId)
    const sessionId = this.content.runs.get(runId)?.record.session_id ?? ''
    const [next] = this.activeTurns(sessionId)
    if (next?.record.status !== 'queued') return
    this.wires.wake(next.owner, { kind: 'turn', run_id: next.record.run_id })
  }

  takeOver(owner: string, at: string, isMeant: (owner: string) => boolean, limit?: number): Recovered {
    releaseClaims(this.content, (key) => isMeant(this.claims.get(key) ?? ''))
    const recovered = recoverRuns(this.content, owner, at, isMeant, limit)
    for (const { run_id } of recovered.interrupted) this.wakeAfter(run_id)
    return recovered
  }

  recover(owner: string, at: string): Recovered {
    const { content, instances } = this
    expireClaims(content, timestamp(content.clock()))
    const isLeft = (runId: string) => !content.runs.has(runId) && instances.isGone(this.files.get(runId) ?? '')
    deleteFiles(content, ({ run_id }) => isLeft(run_id))
    return this.takeOver(owner, at, (other) => other !== owner && instances.isGone(other))
  }
}

function isActive({ record }: RunRow): boolean {
  return !isEnded(record.status)
}
